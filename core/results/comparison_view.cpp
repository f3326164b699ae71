#include "core/results/comparison_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/json.hpp"

namespace driftscope {
namespace {

std::string text_field(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
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

std::int64_t total_time_ns(const Trace& trace) {
  std::int64_t total = 0;
  for (const NodeRecord& node : trace.nodes) total += steady_time_ns(node);
  return total;
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

std::string verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::identical: return "= identical";
    case Verdict::rounding: return "~ rounding";
    case Verdict::unjudged: return "○ unjudged";
    case Verdict::suspect: return "? suspect";
    case Verdict::fault: return "✗ fault";
    case Verdict::missing: break;
  }
  return "· missing";
}

Verdict combined_verdict(const LayerDifference& difference, const LayerVerdict* verified) {
  const Verdict verdict = verified != nullptr ? verified->verdict : Verdict::missing;
  if (verdict != Verdict::missing && verdict >= Verdict::unjudged) return verdict;
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
  std::string faults;
  std::string divergences;
  std::string unjudged;
  std::size_t identical = 0;
  std::size_t failed = 0;
  const auto add = [](std::string& list, const std::string& text) {
    list += (list.empty() ? "" : "; ") + text;
  };
  const auto note_fault = [&](const TargetResult& result) {
    if (result.verification && result.verification->first_fault)
      add(faults, fmt::format("fault at {} on {}", *result.verification->first_fault, result.target));
  };
  const auto note_unjudged = [&](const TargetResult& result) {
    const auto layers = result.verification ? count_layers(*result.verification, Verdict::unjudged) : 0;
    if (layers > 0)
      add(unjudged,
          fmt::format("{} layer{} not judged on {}", layers, layers == 1 ? "" : "s", result.target));
  };
  note_fault(view.left);
  note_unjudged(view.left);
  for (const TargetResult& right : view.right) {
    note_fault(right);
    note_unjudged(right);
    if (right.error || !right.comparison) {
      ++failed;
    } else if (right.comparison->first_divergence) {
      add(divergences,
          fmt::format("{} first differs at {}", right.target, *right.comparison->first_divergence));
    } else {
      ++identical;
    }
  }
  std::string text = faults;
  if (!divergences.empty()) add(text, divergences);
  if (identical > 0)
    add(text, fmt::format("no differing bit on {} target{}", identical, identical == 1 ? "" : "s"));
  if (!unjudged.empty()) add(text, unjudged);
  if (failed > 0) add(text, fmt::format("{} target{} failed", failed, failed == 1 ? "" : "s"));
  if (view.left.error) add(text, view.left.target + " failed");
  return text.empty() ? "nothing was compared" : text;
}

}  // namespace driftscope
