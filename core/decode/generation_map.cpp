#include "core/decode/generation_map.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/base/text.hpp"
#include "core/decode/generation_text.hpp"
#include "core/decode/step_verdicts.hpp"

namespace driftscope {
namespace {

using documents::Generate;
using documents::GenerateSequence;
using documents::GenerateStep;
using documents::GenerateTarget;

/// Its text, where there is one.
std::string token_word(const Generate& results, std::int64_t token) {
  if (token < 0) return "NaN";
  const auto known = std::ranges::lower_bound(results.tokens, token, {}, &documents::GenerateToken::token);
  if (known == results.tokens.end() || known->token != token) return fmt::format("{}", token);
  return in_quotes(known->text, 40);
}

VerdictMapHead head_of(const Generate& results, const GenerateStep& step, std::size_t place,
                       std::int64_t most_bytes) {
  VerdictMapHead head{.step = fmt::format("{}", place), .text = token_word(results, step.token)};
  if (!step.flip.empty()) {
    head.instead = token_word(results, step.reference_token);
    head.judged = verdict_named(step.flip).value_or(Verdict::unjudged);
  }
  if (step.peak_bytes && most_bytes > 0)
    head.level = static_cast<double>(*step.peak_bytes) / static_cast<double>(most_bytes);
  return head;
}

bool is_shown(const GenerateTarget& target, std::size_t layer, bool only_bad) {
  if (!only_bad) return true;
  for (const GenerateSequence& sequence : target.sequences)
    for (const GenerateStep& step : sequence.steps)
      if (layer < step.layers.size() && is_bad(verdict_of_mark(step.layers[layer]))) return true;
  return false;
}

std::int64_t most_memory(const GenerateTarget& target) {
  std::int64_t most = 0;
  for (const GenerateSequence& sequence : target.sequences)
    for (const GenerateStep& step : sequence.steps) most = std::max(most, step.peak_bytes.value_or(0));
  return most;
}

}  // namespace

Verdict verdict_of_mark(char mark) {
  for (const VerdictRow& row : verdict_rows)
    if (mark == mark_of(row.verdict)) return row.verdict;
  return Verdict::missing;
}

std::size_t bad_layers(const GenerateTarget& target) {
  std::ptrdiff_t bad = 0;
  for (const GenerateSequence& sequence : target.sequences)
    for (const GenerateStep& step : sequence.steps)
      bad += std::ranges::count_if(step.layers, [](char mark) { return is_bad(verdict_of_mark(mark)); });
  return static_cast<std::size_t>(bad);
}

GenerationMap generation_map(const Generate& results, const GenerateTarget& target,
                             const GenerationMapOptions& options) {
  GenerationMap made;
  for (std::size_t layer = 0; layer < target.layers.size(); ++layer) {
    if (!is_shown(target, layer, options.only_bad)) continue;
    if (made.layers.size() == options.most_rows) {
      ++made.left_out;
      continue;
    }
    made.layers.push_back(layer);
    made.map.rows.push_back(plain_text(target.layers[layer], 80));
  }
  const std::int64_t memory = options.words ? most_memory(target) : 0;
  if (memory > 0) made.map.bars = fmt::format("memory ≤ {}", format_bytes(memory));
  for (std::size_t p = 0; p < target.sequences.size(); ++p) {
    const GenerateSequence& sequence = target.sequences[p];
    if (!sequence.steps.empty())
      made.map.starts.push_back({made.map.columns.size(), fmt::format("prompt {}", p)});
    for (std::size_t s = 0; s < sequence.steps.size(); ++s) {
      const GenerateStep& step = sequence.steps[s];
      if (!step.flip.empty()) made.map.marked.push_back(made.map.columns.size());
      if (options.words) made.map.heads.push_back(head_of(results, step, s, memory));
      made.columns.push_back({p, s});
      auto& column = made.map.columns.emplace_back();
      for (const std::size_t layer : made.layers)
        column.push_back(layer < step.layers.size() ? verdict_of_mark(step.layers[layer]) : Verdict::missing);
    }
  }
  return made;
}

std::string step_text(const Generate& results, const GenerateTarget& target, GenerationMap::Column column) {
  const GenerateStep& step = target.sequences[column.prompt].steps[column.step];
  std::string text = fmt::format("prompt {}, step {}\ntoken {}", column.prompt, column.step,
                                 named_token(results, step.token));
  if (step.flip.empty()) {
    text += fmt::format(", as on {}; a lead of {}", results.reference, format_number(step.margin));
  } else {
    text +=
        fmt::format(" instead of {}: {}\n{} leads there by {}", named_token(results, step.reference_token),
                    step.flip, named_token(results, step.reference_token), format_number(step.margin));
  }
  if (step.moved) text += fmt::format(", moved by {}", format_number(*step.moved));
  text += "\nworst layer: " + step.verdict;
  if (!step.first_fault.empty()) text += ", first fault at " + plain_text(step.first_fault, 60);
  if (step.peak_bytes) text += "\nmemory " + format_bytes(*step.peak_bytes);
  return text;
}

}  // namespace driftscope
