#include "core/decode/generation_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/format.hpp"
#include "core/base/text.hpp"
#include "core/report/text_table.hpp"
#include "core/verify/verdict.hpp"

namespace driftscope {
namespace {

using documents::Generate;
using documents::GenerateSequence;
using documents::GenerateStep;
using documents::GenerateTarget;

constexpr std::size_t shown_flips = 8;
constexpr std::size_t shown_layers = 12;
constexpr std::size_t layer_width = 36;

std::string worst_of(const GenerateTarget& target) {
  Verdict worst = Verdict::missing;
  for (const GenerateSequence& sequence : target.sequences)
    for (const GenerateStep& step : sequence.steps)
      worst = worse_of(worst, verdict_named(step.verdict).value_or(Verdict::missing));
  return fmt::format("{} {}", row_of(worst).mark, verdict_name(worst));
}

std::map<std::string, std::int64_t> flips_of(const GenerateTarget& target) {
  std::map<std::string, std::int64_t> flips;
  for (const GenerateSequence& sequence : target.sequences)
    for (const GenerateStep& step : sequence.steps)
      if (!step.flip.empty()) ++flips[step.flip];
  return flips;
}

std::string flips_text(const GenerateTarget& target) {
  std::string text;
  for (const auto& [why, count] : flips_of(target))
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, why);
  return text.empty() ? "0" : text;
}

std::string first_parting(const GenerateTarget& target) {
  std::optional<std::int64_t> first;
  for (const GenerateSequence& sequence : target.sequences)
    if (sequence.parts_at) first = std::min(first.value_or(*sequence.parts_at), *sequence.parts_at);
  return first ? fmt::format("step {}", *first) : "–";
}

std::string time_text(const std::optional<double>& ns) {
  return ns ? format_ns(static_cast<std::int64_t>(*ns)) : "–";
}

std::string flip_lines(const Generate& results, const GenerateTarget& target) {
  std::string text;
  std::size_t shown = 0;
  for (std::size_t p = 0; p < target.sequences.size(); ++p)
    for (std::size_t s = 0; s < target.sequences[p].steps.size(); ++s) {
      const GenerateStep& step = target.sequences[p].steps[s];
      if (step.flip.empty() || ++shown > shown_flips) continue;
      const std::string moved =
          step.moved ? fmt::format(", moved by {}", format_number(*step.moved)) : std::string();
      text += fmt::format("  {}, prompt {}, step {}: token {} for {}: {} (a lead of {}{}{})\n", target.target,
                          p, s, named_token(results, step.token), named_token(results, step.reference_token),
                          step.flip, format_number(step.margin), moved,
                          step.first_fault.empty()
                              ? ""
                              : fmt::format("; first at {}", plain_text(step.first_fault, layer_width)));
    }
  if (shown > shown_flips) text += fmt::format("  {}: {} more\n", target.target, shown - shown_flips);
  return text;
}

// Only layers that are worse than rounding in some step: a decoder has hundreds.
std::string map_of(const GenerateTarget& target) {
  std::string text;
  std::size_t shown = 0;
  for (std::size_t layer = 0; layer < target.layers.size(); ++layer) {
    std::string row;
    bool bad = false;
    for (const GenerateSequence& sequence : target.sequences) {
      if (!row.empty()) row += ' ';
      for (const GenerateStep& step : sequence.steps) {
        const char mark = layer < step.layers.size() ? step.layers[layer] : '.';
        bad = bad || mark == 'x' || mark == '?' || mark == 'o';
        row += mark;
      }
    }
    if (!bad || ++shown > shown_layers) continue;
    text += fmt::format("  {:<{}}  {}\n", plain_text(target.layers[layer], layer_width), layer_width, row);
  }
  if (text.empty()) return text;
  if (shown > shown_layers) text += fmt::format("  and {} more layers\n", shown - shown_layers);
  return fmt::format("\n{}: steps by layer (= identical, ~ rounding, o unjudged, ? suspect, x fault)\n{}",
                     target.target, text);
}

}  // namespace

std::vector<std::string> target_titles() {
  return {"target",      "verdict",    "steps",    "other tokens", "parts at",
          "first token", "each token", "tokens/s", "memory"};
}

std::vector<std::string> target_cells(const Generate& results, const GenerateTarget& target) {
  std::size_t steps = 0;
  for (const GenerateSequence& sequence : target.sequences) steps += sequence.steps.size();
  const bool is_reference = target.target == results.reference;
  return {target.target,
          worst_of(target),
          fmt::format("{}", steps),
          is_reference ? "reference" : flips_text(target),
          is_reference ? "–" : first_parting(target),
          time_text(target.first_token_ns),
          time_text(target.token_ns),
          target.token_ns && *target.token_ns > 0.0 ? format_number(1e9 / *target.token_ns) : "–",
          target.peak_bytes ? format_bytes(*target.peak_bytes) : "–"};
}

std::string named_token(const Generate& results, std::int64_t token) {
  const auto known = std::ranges::lower_bound(results.tokens, token, {}, &documents::GenerateToken::token);
  if (known == results.tokens.end() || known->token != token) return fmt::format("{}", token);
  return fmt::format("{} {}", token, in_quotes(known->text));
}

std::vector<std::int64_t> tokens_of(const GenerateSequence& sequence) {
  std::vector<std::int64_t> tokens = sequence.free;
  if (tokens.empty())
    for (const GenerateStep& step : sequence.steps) tokens.push_back(step.token);
  return tokens;
}

std::string generation_text(const Generate& results) {
  TextTable table;
  for (const std::string& title : target_titles())
    table.column(title, title == "target" || title == "verdict" ? Align::left : Align::right);
  for (const GenerateTarget& target : results.targets) table.row(target_cells(results, target));
  std::string text = table.text();
  std::string flips;
  for (const GenerateTarget& target : results.targets) {
    if (!target.error.empty()) text += fmt::format("{}: {}\n", target.target, target.error);
    flips += flip_lines(results, target);
    for (std::size_t p = 0; p < target.sequences.size(); ++p)
      if (!target.sequences[p].cache_fault.empty())
        flips += fmt::format("  {}, prompt {}: the first cache beyond rounding is {}\n", target.target, p,
                             plain_text(target.sequences[p].cache_fault, whole_text));
  }
  if (!flips.empty()) text += "\n" + flips;
  for (const GenerateTarget& target : results.targets) text += map_of(target);
  return text;
}

std::string token_lines(const Generate& results) {
  std::string text;
  std::size_t width = 0;
  for (const GenerateTarget& target : results.targets) width = std::max(width, display_width(target.target));
  const std::size_t prompts = results.targets.empty() ? 0 : results.targets.front().sequences.size();
  for (std::size_t p = 0; p < prompts; ++p)
    for (const GenerateTarget& target : results.targets) {
      if (p >= target.sequences.size()) continue;
      text += fmt::format("prompt {}  {:<{}}  {}\n", p, target.target, width,
                          fmt::join(tokens_of(target.sequences[p]), " "));
      // All of it: an answer is what the run was for.
      if (!results.tokenizer.empty())
        text +=
            fmt::format("          {:<{}}  {}\n", "", width, in_quotes(target.sequences[p].text, 100'000));
    }
  return text;
}

}  // namespace driftscope
