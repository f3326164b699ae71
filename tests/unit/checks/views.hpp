// Small comparisons with planted verdicts and times, for tests of checks and what shows them.
#pragma once

#include <string>
#include <vector>

#include "core/results/comparison_view.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test {

inline LayerVerdict verified_layer(const std::string& node, const std::string& op, Verdict verdict) {
  LayerVerdict layer;
  layer.node = node;
  layer.op = op;
  layer.output = node + "_out";
  layer.shape = {1, 3};
  layer.verdict = verdict;
  if (verdict == Verdict::fault || verdict == Verdict::suspect) {
    layer.budget_used = verdict == Verdict::fault ? 731.0 : 0.4;
    layer.worst = WorstElement{{0, 1}, 1.25, 1.5, 1e-4};
  }
  return layer;
}

/// A target whose two layers have these verdicts and whose answer is `scores`; one time per run and layer.
inline TargetResult checked_target(const std::string& name, Verdict first, Verdict second,
                                   const std::vector<float>& scores,
                                   const std::vector<std::int64_t>& times_ns = {}) {
  TargetResult result;
  result.target = name;
  Trace trace;
  trace.target = name;
  trace.nodes = {{"conv", "Conv", {"conv_out"}, times_ns}, {"soft", "Softmax", {"soft_out"}, times_ns}};
  trace.tensors = {{"soft_out", tensor<float>({1, static_cast<std::int64_t>(scores.size())}, scores)}};
  result.trace = std::move(trace);
  Verification verification;
  verification.target = name;
  verification.layers = {verified_layer("conv", "Conv", first), verified_layer("soft", "Softmax", second)};
  verification.verdict = std::max(first, second);
  if (first == Verdict::fault)
    verification.first_fault = "conv";
  else if (second == Verdict::fault)
    verification.first_fault = "soft";
  result.verification = std::move(verification);
  return result;
}

inline ComparisonView checked_view(TargetResult left, std::vector<TargetResult> right) {
  ComparisonView view;
  view.model_name = "net.onnx";
  view.model_sha256 = "ab";
  const auto best = [](const TargetResult& target) {
    const auto values = target.trace->tensors[0].tensor.values<float>();
    return static_cast<std::int64_t>(std::max_element(values.begin(), values.end()) - values.begin());
  };
  for (TargetResult& target : right) {
    if (!target.trace || !left.trace) continue;
    Comparison comparison;
    comparison.target = target.target;
    comparison.output = {best(left), best(target), best(left) == best(target)};
    const auto a = left.trace->tensors[0].tensor.bytes();
    const auto b = target.trace->tensors[0].tensor.bytes();
    if (!std::equal(a.begin(), a.end(), b.begin(), b.end())) comparison.first_divergence = "soft";
    target.comparison = std::move(comparison);
  }
  view.left = std::move(left);
  view.right = std::move(right);
  return view;
}

}  // namespace driftscope::test
