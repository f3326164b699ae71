// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/repeats.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/verify/metrics.hpp"

namespace driftscope {
namespace {

bool is_right(Verdict verdict) { return concern_of(verdict) == Concern::none; }

Result<JudgedDifference> judged(const Graph& graph, const TraceView& trace, const RunDifference& difference,
                                const JudgeValue& judge) {
  JudgedDifference result{difference};
  DRIFTSCOPE_TRY(const auto later, trace.load_later(difference.run, difference.value));
  const auto id = graph.find_value(difference.value);
  if (!later || !id) return result;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (trace[i].name != difference.value) continue;
    DRIFTSCOPE_TRY(const Tensor first, trace.load(i));
    if (const auto metrics = measure(*later, first); metrics.ok()) result.metrics = *metrics;
  }
  if (graph.values[*id].producer == no_node) return result;
  DRIFTSCOPE_TRY(result.first, judge(*id, nullptr));
  DRIFTSCOPE_TRY(result.later, judge(*id, &*later));
  return result;
}

std::string layer_text(const RunDifference& one) {
  if (one.node.empty()) return fmt::format("the input {}, which the runtime has overwritten", one.value);
  return fmt::format("{} ({})", one.node, one.op);
}

std::string size_text(const JudgedDifference& one) {
  if (!one.difference.reason.empty()) return one.difference.reason;
  if (!one.metrics) return {};
  if (one.difference.zero_signs)
    return fmt::format("the signs of {} zeros, of {} elements", one.metrics->different_elements,
                       one.metrics->elements);
  return fmt::format("{} of {} elements, by up to {:.3g}", one.metrics->different_elements,
                     one.metrics->elements, one.metrics->max_abs);
}

std::string verdicts_text(const JudgedDifference& one) {
  if (one.first == Verdict::missing || one.later == Verdict::missing) return {};
  const auto text = [](std::int64_t run, Verdict verdict) {
    return fmt::format("run {} is {}{}", run,
                       is_right(verdict) ? "right: "
                       : is_bad(verdict) ? "wrong: "
                                         : "",
                       verdict_name(verdict));
  };
  return text(1, one.first) + ", " + text(one.difference.run, one.later);
}

std::string run_names(const AgreeingRuns& group) {
  if (group.runs == 1) return fmt::format("run {}", group.first);
  if (group.contiguous()) return fmt::format("runs {} to {}", group.first, group.last);
  return fmt::format("{} runs from {} to {}", group.runs, group.first, group.last);
}

std::string groups_text(const RepeatCheck& check) {
  std::string text;
  for (const AgreeingRuns& group : check.groups)
    if (group.runs > 1) text += fmt::format("{}{} agree", text.empty() ? "" : ", ", run_names(group));
  const auto results = static_cast<std::int64_t>(check.groups.size()) + check.more_groups;
  if (text.empty() && results > 1) return "no two runs agree";
  return results > 2 ? fmt::format("{} or more different results: {}", check.groups.size(), text) : text;
}

}  // namespace

Result<std::optional<RepeatVerification>> judge_repeats(const Graph& graph, const TraceView& trace,
                                                        const JudgeValue& judge) {
  auto check = repeat_check_of(trace.about());
  if (!check) return std::optional<RepeatVerification>();
  RepeatVerification result;
  for (const RunDifference& difference : check->different) {
    DRIFTSCOPE_TRY(JudgedDifference one, judged(graph, trace, difference, judge));
    result.different.push_back(std::move(one));
  }
  result.check = *std::move(check);
  return std::optional(std::move(result));
}

Verdict worst_later_verdict(const RepeatVerification& repeats) {
  Verdict worst = Verdict::missing;
  for (const JudgedDifference& one : repeats.different) worst = worse_of(worst, one.later);
  return worst;
}

std::string repeats_text(const RepeatVerification& repeats) {
  const RepeatCheck& check = repeats.check;
  if (check.agree())
    return fmt::format("all {} runs agree bit for bit ({} values each)", check.runs, check.values);
  std::string text;
  for (const JudgedDifference& one : repeats.different) {
    const RunDifference& difference = one.difference;
    text += fmt::format("{}run {} differs from run 1, first at {}", text.empty() ? "" : "; ", difference.run,
                        layer_text(difference));
    if (const std::string size = size_text(one); !size.empty()) text += ": " + size;
    if (difference.values > 1)
      text += fmt::format(" ({} of {} values differ)", difference.values, check.values);
    if (const std::string verdicts = verdicts_text(one); !verdicts.empty()) text += "; " + verdicts;
  }
  const std::string groups = groups_text(check);
  return groups.empty() ? text : text + "; " + groups;
}

}  // namespace driftscope
