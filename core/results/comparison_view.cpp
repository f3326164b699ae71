#include "core/results/comparison_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "core/base/json.hpp"
#include "core/bench/memory_growth.hpp"
#include "core/results/headline.hpp"
#include "core/trace/run_fact.hpp"
#include "core/verify/name_match.hpp"
#include "core/verify/nonfinite.hpp"
#include "core/verify/overflow.hpp"
#include "core/verify/perturbation.hpp"
#include "core/verify/repeats.hpp"
#include "core/verify/type_match.hpp"

namespace driftscope {
namespace {

std::string text_field(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Whether some layer differs on which there is no verdict.
bool differs_unverified(const TargetResult& result) {
  std::unordered_set<std::string_view> verified;
  if (result.verification)
    for (const LayerVerdict& layer : result.verification->layers)
      if (layer.verdict != Verdict::missing) verified.insert(layer.output);
  return std::ranges::any_of(result.comparison->layers, [&](const LayerDifference& layer) {
    const bool differs = layer.metrics.different_elements > 0 || !layer.reason.empty();
    return layer.recorded && differs && !verified.contains(layer.output);
  });
}

TargetOutcome outcome_of(const TargetResult& result, const TargetResult& left) {
  TargetOutcome outcome;
  outcome.target = result.target;
  outcome.failed = result.error.has_value();
  outcome.time = run_time(result);
  if (result.verification) {
    outcome.verdict = result.verification->verdict;
    outcome.first_fault = result.verification->first_fault.value_or("");
    outcome.nonfinite = nonfinite_text(*result.verification);
    outcome.hidden_overflow = hidden_overflow(*result.verification);
    if (result.verification->matters) outcome.matters = causal_headline(*result.verification->matters);
    outcome.unjudged = count_layers(*result.verification, Verdict::unjudged);
    if (const auto& repeats = result.verification->repeats; repeats && !repeats->check.agree()) {
      const RunDifference& first = repeats->check.different.front();
      outcome.unrepeatable = first.node.empty() ? first.value : first.node;
    }
    const auto& layers = result.verification->layers;
    const auto suspect = std::ranges::find(layers, Verdict::suspect, &LayerVerdict::verdict);
    if (suspect != layers.end()) outcome.first_suspect = suspect->node;
  }
  if (result.comparison) {
    outcome.compared = true;
    outcome.unverified = differs_unverified(result);
    outcome.differs = result.comparison->first_divergence.has_value();
    outcome.same_answer = same_answer(result.comparison->output);
    outcome.answers = result.comparison->output;
    if (result.dataset && left.dataset) {
      outcome.samples = result.dataset->samples;
      outcome.same_samples = agreement(*left.dataset, *result.dataset);
    }
  }
  return outcome;
}

}  // namespace

std::string run_text(const Trace& trace) {
  const auto run = parse_json(trace.run);
  if (!run.is_object()) return "unknown";
  std::string text;
  const auto add = [&](const std::string& part) {
    if (part.empty()) return;
    if (!text.empty()) text += " · ";
    text += part;
  };
  // The launcher's version ("WebKitGTK 2.50.6") before the one that the page reports.
  const std::string browser = text_field(run, "browser_version").empty() ? text_field(run, "browser")
                                                                         : text_field(run, "browser_version");
  add(browser.empty() ? text_field(run, "platform") : browser);
  add(text_field(run, "compiler"));
  add(text_field(run, "instruction_set"));
  const auto threads = run.find("threads_real");
  if (threads != run.end() && threads->is_number_integer()) {
    const auto count = threads->get<std::int64_t>();
    add(fmt::format("{} thread{}", count, count == 1 ? "" : "s"));
  }
  const auto isolated = run.find("isolated");
  if (isolated != run.end() && isolated->is_boolean())
    add(isolated->get<bool>() ? "isolated" : "not isolated");
  return text.empty() ? "unknown" : text;
}

std::string short_target(const std::string& target, const ComparisonView& view) {
  const std::string host = target.substr(0, target.find('/'));
  int same_host = 0;
  const auto count = [&](const TargetResult& result) {
    same_host += result.target.substr(0, result.target.find('/')) == host ? 1 : 0;
  };
  count(view.left);
  for (const TargetResult& right : view.right) count(right);
  return same_host > 1 ? target : host;
}

RunTime run_time(const TargetResult& result) {
  if (result.stored_time) return *result.stored_time;
  if (result.trace) return run_time(*result.trace);
  double total = 0.0;  // of a document from elsewhere: 64 bits may not hold it
  if (result.comparison)
    for (const LayerDifference& layer : result.comparison->layers)
      total += static_cast<double>(layer.right_ns);
  RunTime time;
  if (total > 0.0) time = {.ns = total, .kind = TimeKind::layers, .layers = "watched"};
  return time;
}

MemoryRecord peak_memory(const Trace& trace) {
  const auto rank = [](const std::string& kind) {
    if (kind == "process_tree_pss") return 2;
    return kind == "process_pss" ? 1 : 0;
  };
  MemoryRecord peak;
  for (const MemoryRecord& sample : trace.memory) {
    const int better = rank(sample.kind) - rank(peak.kind);
    if (peak.kind.empty() || better > 0 || (better == 0 && sample.bytes > peak.bytes)) peak = sample;
  }
  return peak;
}

std::vector<std::string> target_notes(const TargetResult& target) {
  std::vector<std::string> notes;
  const auto add = [&](std::string note) {
    if (!note.empty()) notes.push_back(std::move(note));
  };
  if (target.verification) add(nonfinite_text(*target.verification));
  if (target.verification) add(overflow_text(*target.verification));
  if (target.verification && target.verification->matters) add(causal_text(*target.verification->matters));
  if (target.verification && target.verification->repeats) add(repeats_text(*target.verification->repeats));
  if (!target.trace) return notes;
  if (const auto memory = memory_over_runs_of(*target.trace)) add(memory_over_runs_text(*memory));
  add(perturbation_text(*target.trace));
  add(name_match_text(*target.trace));
  add(type_match_text(*target.trace));
  for (std::string& note : notes_of_run(*target.trace)) add(std::move(note));
  return notes;
}

bool has_classes(const ComparisonView& view) {
  return std::ranges::none_of(view.right, [](const TargetResult& right) {
    if (!right.comparison) return false;
    const std::optional<AnswerKind> kind = right.comparison->output.kind;
    return kind == AnswerKind::boxes || kind == AnswerKind::numbers;
  });
}

std::string verdict_text(Verdict verdict) {
  return fmt::format("{} {}", row_of(verdict).mark, verdict_name(verdict));
}

Verdict combined_verdict(const LayerDifference& difference, const LayerVerdict* verified) {
  const Verdict verdict = verified != nullptr ? verified->verdict : Verdict::missing;
  if (concern_of(verdict) != Concern::none) return verdict;
  if (!difference.reason.empty()) return verdict;
  if (difference.metrics.different_elements == 0) return Verdict::identical;
  return verdict == Verdict::identical ? Verdict::rounding : verdict;
}

std::int64_t agreement(const DatasetResult& left, const DatasetResult& target) {
  if (left.predictions.empty() || target.predictions.empty()) return target.agrees_with_left;
  const std::size_t common = std::min(left.predictions.size(), target.predictions.size());
  std::int64_t same = 0;
  for (std::size_t i = 0; i < common; ++i) same += left.predictions[i] == target.predictions[i] ? 1 : 0;
  return same;
}

std::string headline(const ComparisonView& view) {
  std::vector<TargetOutcome> outcomes = {outcome_of(view.left, view.left)};
  for (const TargetResult& right : view.right) outcomes.push_back(outcome_of(right, view.left));
  return comparison_headline(outcomes);
}

}  // namespace driftscope
