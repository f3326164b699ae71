#include "core/compare/answer_separation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "core/eval/evaluate.hpp"
#include "core/graph/constant_nodes.hpp"

namespace driftscope {
namespace {

// A run's values: those that both runs recorded, and in their absence what double makes of the values before.
class KnownValues {
 public:
  KnownValues(const Graph& graph, const Trace& trace, const Trace& other, ThreadPool& threads)
      : graph_(graph), trace_(trace), other_(other), threads_(threads), values_(graph.values.size()) {}

  [[nodiscard]] const Tensor* recorded(ValueId id) const {
    const std::string& name = graph_.values[id].name;
    return other_.find(name) == nullptr ? nullptr : trace_.find(name);
  }

  /// What the kernel gives for the inputs that the node had; nothing where an input is unknown.
  std::optional<std::vector<Evaluated<double>>> computed(const Node& node) {
    const auto reads = node.reads();
    std::vector<const Evaluated<double>*> operands(reads.size(), nullptr);
    for (std::size_t i = 0; i < reads.size(); ++i) {
      if (reads[i] == no_value) continue;
      const auto& value = value_of(reads[i]);
      if (!value) return std::nullopt;
      operands[i] = &*value;
    }
    auto results = evaluate<double>(node, operands, threads_);
    if (!results.ok()) return std::nullopt;
    for (std::size_t i = 0; i < node.outputs.size() && i < results->size(); ++i)
      if (node.outputs[i] != no_value && recorded(node.outputs[i]) == nullptr)
        values_[node.outputs[i]] = (*results)[i];
    return *std::move(results);
  }

 private:
  const std::optional<Evaluated<double>>& value_of(ValueId id) {
    auto& value = values_[id];
    if (value) return value;
    if (const Tensor* const tensor = recorded(id))
      value = known<double>(*tensor);
    else if (graph_.values[id].constant)
      value = known<double>(*graph_.values[id].constant);
    return value;
  }

  const Graph& graph_;
  const Trace& trace_;
  const Trace& other_;
  ThreadPool& threads_;
  std::vector<std::optional<Evaluated<double>>> values_;
};

std::vector<double> doubles_of(const Evaluated<double>& value) {
  return is_known(value) ? lift_values<double>(value.tensor) : value.real;
}

// The verdict of a value, missing if it was not recorded.
Verdict verdict_of(const Verification& verification, const std::string& output) {
  const auto found = std::ranges::find(verification.layers, output, &LayerVerdict::output);
  return found == verification.layers.end() ? Verdict::missing : found->verdict;
}

// The first layer that rounding does not explain, on either side.
std::optional<AnswerSeparation> beyond_rounding(const Graph& graph, const Verification& left,
                                                const Verification& right) {
  for (const Node& node : graph.nodes)
    for (const ValueId id : node.outputs) {
      if (id == no_value) continue;
      const std::string& output = graph.values[id].name;
      const Verdict l = verdict_of(left, output);
      const Verdict r = verdict_of(right, output);
      if (!is_bad(l) && !is_bad(r)) continue;
      return AnswerSeparation{.beyond_rounding = true,
                              .node = node.name,
                              .op = node.op_type,
                              .output = output,
                              .left = l,
                              .right = r};
    }
  return std::nullopt;
}

}  // namespace

Result<std::vector<LayerError>> own_differences(const Graph& graph, const Trace& left, const Trace& right,
                                                ThreadPool& threads) {
  KnownValues on_left(graph, left, right, threads);
  KnownValues on_right(graph, right, left, threads);
  std::vector<LayerError> errors;
  for (const Node& node : graph.nodes) {
    const auto want_left = on_left.computed(node);
    const auto want_right = on_right.computed(node);
    const ValueId id = node.outputs[0];
    if (!want_left || !want_right || id == no_value || !is_floating(graph.values[id].dtype)) continue;
    const Tensor* const got_left = on_left.recorded(id);
    const Tensor* const got_right = on_right.recorded(id);
    if (got_left == nullptr || got_right == nullptr || !is_floating(got_left->dtype()) ||
        got_left->shape() != got_right->shape() || got_left->dtype() != got_right->dtype())
      continue;
    LayerError layer{graph.values[id].name, lift_values<double>(*got_right)};
    const auto from = lift_values<double>(*got_left);
    const auto right_value = doubles_of((*want_right)[0]);
    const auto left_value = doubles_of((*want_left)[0]);
    if (right_value.size() != from.size() || left_value.size() != from.size()) continue;
    for (std::size_t i = 0; i < from.size(); ++i)
      layer.error[i] = (layer.error[i] - right_value[i]) - (from[i] - left_value[i]);
    errors.push_back(std::move(layer));
  }
  if (errors.empty())
    return bad_input(
        "the two runs have no recorded layer in common whose inputs are known: record all layers");
  return errors;
}

Result<AnswerSeparation> separate_answers(
    const Graph& graph, const std::string& model_sha256, const Trace& left, const Trace& right,
    const std::function<const Tensor*(const std::string& value)>& gradient_of,
    const std::string& why_no_gradient, ThreadPool& threads) {
  DRIFTSCOPE_TRY(const Verification left_verdicts, verify(graph, model_sha256, left, threads));
  DRIFTSCOPE_TRY(const Verification right_verdicts, verify(graph, model_sha256, right, threads));
  if (auto found = beyond_rounding(graph, left_verdicts, right_verdicts)) return *std::move(found);
  DRIFTSCOPE_TRY(std::vector<LayerError> errors, own_differences(graph, left, right, threads));
  std::erase_if(errors, [&](const LayerError& layer) {
    const Tensor* const gradient = gradient_of(layer.value);
    return gradient == nullptr || gradient->elements() != std::ssize(layer.error);
  });
  if (errors.empty()) return AnswerSeparation{.reason = why_no_gradient};
  DRIFTSCOPE_TRY(const auto layers, layer_sensitivity(errors, gradient_of));
  AnswerSeparation result;
  // The margin is positive on the left and negative on the right: what lowers it flips the answer.
  const auto largest = std::ranges::min_element(layers, {}, &LayerSensitivity::moved);
  for (const LayerSensitivity& layer : layers) result.moved_by_all += layer.moved;
  const auto value = graph.find_value(largest->value);
  if (!value) return internal_error(fmt::format("the graph has no value {}", largest->value));
  const Node& node = graph.nodes[graph.values[*value].producer];
  result.node = node.name;
  result.op = node.op_type;
  result.output = largest->value;
  result.moved = largest->moved;
  result.left = verdict_of(left_verdicts, largest->value);
  result.right = verdict_of(right_verdicts, largest->value);
  return result;
}

}  // namespace driftscope
