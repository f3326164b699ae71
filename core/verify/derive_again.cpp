// Compiled for size on the web (cmake/core.cmake).
// A layer derived once more under another assumption: another error model, other inputs, one operator in
// place of several. Known algorithms and causes are tried so.
#include <algorithm>

#include "core/numerics/subnormal_rows.hpp"
#include "core/verify/derivation.hpp"

namespace driftscope {
namespace {

/// By value that one of these nodes makes or reads: the last of them that does. They are in order.
std::map<ValueId, NodeId> last_readers(const Graph& graph, std::span<const NodeId> nodes) {
  std::map<ValueId, NodeId> last;
  for (const NodeId id : nodes) {
    for (const ValueId value : graph.nodes[id].reads()) last[value] = id;
    for (const ValueId value : graph.nodes[id].outputs) last[value] = id;
  }
  return last;
}

}  // namespace

std::optional<Evaluated<Bounded>> Derivation::derive_again(
    std::span<const NodeId> group, NodeId node, std::size_t output, const ErrorModel& model,
    const std::map<ValueId, const Evaluated<Bounded>*>& instead, ThreadPool& threads) const {
  std::vector<NodeId> nodes(group.begin(), group.end());
  nodes.push_back(node);
  std::map<ValueId, Evaluated<Bounded>> made;
  const std::map<ValueId, NodeId> last = last_readers(*graph_, nodes);
  for (const NodeId id : nodes) {
    const Node& one = graph_->nodes[id];
    const std::vector<ValueId> reads = one.reads();
    std::vector<Evaluated<Bounded>> lifted(reads.size());
    std::vector<const Evaluated<Bounded>*> inputs(reads.size(), nullptr);
    for (std::size_t i = 0; i < reads.size(); ++i) {
      if (reads[i] == no_value) continue;
      if (const auto other = instead.find(reads[i]); other != instead.end()) {
        inputs[i] = other->second;
      } else if (const auto found = made.find(reads[i]); found != made.end()) {
        inputs[i] = &found->second;
      } else if (is_known(reads[i])) {
        auto result = lifted_known(reads[i]);
        if (!result) return std::nullopt;
        lifted[i] = *std::move(result);
        if (i == 2 && quantized_biases_) widen_bias(id, lifted[i]);
        inputs[i] = &lifted[i];
      } else {
        return std::nullopt;
      }
    }
    const std::optional<Tensor> reread = reread_output(one);
    const bool flushes = flushed_results_ && nodes.size() > 1;
    const ErrorModel own = flushes ? flushing_results(model) : model;
    auto results =
        evaluate<Bounded>(one, inputs, threads, {.recorded = reread ? &*reread : nullptr, .model = &own});
    if (!results.ok()) return std::nullopt;
    for (std::size_t i = 0; i < one.outputs.size(); ++i)
      if (one.outputs[i] != no_value) made[one.outputs[i]] = std::move((*results)[i]);
    std::erase_if(made, [&](const auto& value) { return id != node && last.at(value.first) <= id; });
  }
  const auto found = made.find(graph_->nodes[node].outputs[output]);
  return found == made.end() ? std::nullopt : std::optional(std::move(found->second));
}

std::optional<Evaluated<Bounded>> Derivation::derive_instead(std::span<const NodeId> group, const Node& node,
                                                             const ErrorModel& model,
                                                             ThreadPool& threads) const {
  std::vector<Evaluated<Bounded>> values(node.inputs.size());
  std::vector<const Evaluated<Bounded>*> inputs(node.inputs.size(), nullptr);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId input = node.inputs[i];
    if (input == no_value) continue;
    std::optional<Evaluated<Bounded>> value;
    if (is_known(input)) {
      value = lifted_known(input);
    } else if (const NodeId maker = graph_->values[input].producer; maker != no_node) {
      std::vector<NodeId> before(group.begin(), group.end());
      std::erase_if(before, [&](NodeId id) { return id >= maker; });
      const auto& outputs = graph_->nodes[maker].outputs;
      const auto output = static_cast<std::size_t>(std::ranges::find(outputs, input) - outputs.begin());
      value = derive_again(before, maker, output, model, {}, threads);
    }
    if (!value) return std::nullopt;
    values[i] = *std::move(value);
    inputs[i] = &values[i];
  }
  auto results = evaluate<Bounded>(node, inputs, threads, {.model = &model});
  if (!results.ok() || results->empty()) return std::nullopt;
  return std::move(results->front());
}

}  // namespace driftscope
