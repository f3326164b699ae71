#include "core/compare/level_bisect.hpp"

#include <algorithm>

#include "core/trace/tensors_by_name.hpp"
#include "core/verify/metrics.hpp"

namespace driftscope {
namespace {

/// Adds one tensor's difference; whether they differ at all.
bool add_difference(Metrics& sum, const Tensor* got, const Tensor* want) {
  if (got == nullptr || want == nullptr) return true;
  const auto one = measure(*got, *want);
  if (!one.ok()) return true;
  sum.elements += one->elements;
  sum.different_elements += one->different_elements;
  sum.max_abs = std::max(sum.max_abs, one->max_abs);
  sum.max_rel = std::max(sum.max_rel, one->max_rel);
  sum.max_ulp = std::max(sum.max_ulp, one->max_ulp);
  return one->different_elements > 0;
}

LevelResult level_result(const Graph& graph, const LevelRun& run, const LevelRun& first) {
  LevelResult result;
  result.level = run.level;
  result.target = run.target;
  result.error = run.error;
  if (run.verification) {
    result.verdict = run.verification->verdict;
    result.first_fault = run.verification->first_fault;
  }
  if (run.rewritten) result.nodes = run.rewritten->nodes.size();
  if (!run.trace) return result;
  result.values = run.trace->tensors.size();
  result.compared = true;
  for (const ValueId id : graph.outputs) {
    const std::string& name = graph.values[id].name;
    const bool differs = add_difference(result.outputs, run.trace->find(name), first.trace->find(name));
    result.differs = result.differs || differs;
  }
  return result;
}

Verdict verdict_of(const LevelRun& run, const std::string& value) {
  if (run.verification)
    for (const LayerVerdict& layer : run.verification->layers)
      if (layer.output == value) return layer.verdict;
  return Verdict::missing;
}

void find_first_value(LevelStep& step, const Graph& graph, const LevelRun& from, const LevelRun& to) {
  const TensorsByName before(*from.trace);
  const TensorsByName after(*to.trace);
  for (const Node& node : graph.nodes)
    for (const ValueId id : node.outputs) {
      if (id == no_value) continue;
      const std::string& name = graph.values[id].name;
      const Tensor* want = before.find(name);
      const Tensor* got = after.find(name);
      if (want != nullptr && got == nullptr) step.vanished.push_back(name);
      if (want == nullptr || got == nullptr || !step.value.empty()) continue;
      Metrics metrics;
      if (!add_difference(metrics, got, want)) continue;
      step.value = name;
      step.node = node.name;
      step.op = node.op_type;
      step.metrics = metrics;
      step.verdict_from = verdict_of(from, name);
      step.verdict_to = verdict_of(to, name);
    }
}

/// The replacement that makes the value, else the last one from which nodes lead to it.
std::optional<std::size_t> culprit_of(const LevelStep& step, const ModelOutline& after) {
  std::vector<std::string> open = {step.value};
  for (std::size_t next = 0; next < open.size(); ++next) {
    for (std::size_t i = 0; i < step.replaced.size(); ++i)
      if (std::ranges::find(step.replaced[i].outputs, open[next]) != step.replaced[i].outputs.end()) return i;
    const auto maker = std::ranges::find_if(after.nodes, [&](const OutlineNode& node) {
      return std::ranges::find(node.outputs, open[next]) != node.outputs.end();
    });
    if (maker == after.nodes.end()) continue;
    for (const std::string& input : maker->inputs)
      if (!input.empty() && std::ranges::find(open, input) == open.end()) open.push_back(input);
  }
  return std::nullopt;
}

LevelStep step_between(const Graph& graph, const LevelRun& from, const LevelRun& to) {
  LevelStep step;
  step.from = from.level;
  step.to = to.level;
  find_first_value(step, graph, from, to);
  if (!from.rewritten || !to.rewritten) return step;
  step.replaced = compare_outlines(*from.rewritten, *to.rewritten);
  if (!step.value.empty()) step.culprit = culprit_of(step, *to.rewritten);
  return step;
}

/// The last level before `place` that ran.
std::size_t ran_before(std::span<const LevelRun> runs, std::size_t place) {
  while (!runs[--place].trace) {
  }
  return place;
}

}  // namespace

Result<LevelBisect> bisect_levels(const Graph& graph, std::string option, std::span<const LevelRun> runs) {
  const auto first = std::ranges::find_if(runs, [](const LevelRun& run) { return run.trace.has_value(); });
  if (first == runs.end())
    return runs.empty() || !runs.front().error ? internal_error("there are no runs to compare")
                                               : *runs.front().error;
  LevelBisect result;
  result.option = std::move(option);
  for (const LevelRun& run : runs) result.levels.push_back(level_result(graph, run, *first));
  const auto start = static_cast<std::size_t>(first - runs.begin());
  for (std::size_t i = start + 1; i < runs.size(); ++i) {
    const LevelResult& level = result.levels[i];
    if (!level.compared) continue;
    if (level.differs && !result.differs_at) result.differs_at = i;
    if (severity(level.verdict) > severity(result.levels[start].verdict) && !result.worse_at)
      result.worse_at = i;
  }
  if (result.differs_at)
    result.steps.push_back(
        step_between(graph, runs[ran_before(runs, *result.differs_at)], runs[*result.differs_at]));
  if (result.worse_at && result.worse_at != result.differs_at)
    result.steps.push_back(
        step_between(graph, runs[ran_before(runs, *result.worse_at)], runs[*result.worse_at]));
  return result;
}

}  // namespace driftscope
