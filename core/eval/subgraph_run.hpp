// Runs a subgraph node after node. Client: evaluate, which gives it to the kernels of control flow.
// A value is released after its last use.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/eval/kernel_context.hpp"
#include "core/graph/graph.hpp"

namespace driftscope {

/// How values are held between the nodes (`Held`: Evaluated<S>, or Tensor in the strict engine) and
/// how one node is evaluated.
template <class S, class Held>
struct SubgraphRules {
  std::function<Result<Held>(const Tensor& constant)> lift;
  std::function<Result<std::vector<Held>>(const Node&, std::span<const Held* const>)> evaluate;
  std::function<Result<Held>(Evaluated<S>)> take;
  std::function<Evaluated<S>(Held)> give;
};

template <class S, class Held>
class HeldSubgraphRun final : public SubgraphRun<S> {
 public:
  /// `captured` are the node's captured values; they outlive this.
  HeldSubgraphRun(const Subgraph& subgraph, std::span<const Held* const> captured,
                  SubgraphRules<S, Held> rules)
      : subgraph_(subgraph),
        rules_(std::move(rules)),
        constants_(graph().values.size()),
        base_(graph().values.size(), nullptr),
        last_use_(graph().values.size(), no_node) {
    for (std::size_t i = 0; i < graph().captured.size(); ++i)
      base_[graph().captured[i]] = captured[subgraph.captured[i]];
    for (NodeId id = 0; id < graph().nodes.size(); ++id)
      for (const ValueId value : graph().nodes[id].reads())
        if (value != no_value) last_use_[value] = id;
    for (const ValueId value : graph().outputs) last_use_[value] = no_node;
  }

  Status prepare() {
    for (ValueId id = 0; id < graph().values.size(); ++id) {
      const auto& constant = graph().values[id].constant;
      if (!constant) continue;
      DRIFTSCOPE_TRY(constants_[id], rules_.lift(*constant));
      base_[id] = &*constants_[id];
    }
    return {};
  }

  [[nodiscard]] const Graph& graph() const override { return *subgraph_.graph; }

  [[nodiscard]] Result<std::vector<Evaluated<S>>> run(std::vector<Evaluated<S>> inputs) override {
    auto outputs = run_nodes(std::move(inputs));
    if (!outputs.ok()) return in_context(std::move(outputs).error(), subgraph_.attribute);
    return outputs;
  }

 private:
  Result<std::vector<Evaluated<S>>> run_nodes(std::vector<Evaluated<S>> inputs) {
    if (inputs.size() != graph().inputs.size())
      return bad_input("the graph takes " + std::to_string(graph().inputs.size()) +
                       " inputs, the node gives " + std::to_string(inputs.size()));
    std::vector<std::optional<Held>> made(base_.size());
    std::vector<const Held*> values = base_;
    const auto put = [&](ValueId id, Held value) {
      made[id] = std::move(value);
      values[id] = &*made[id];
    };
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      DRIFTSCOPE_TRY(Held value, rules_.take(std::move(inputs[i])));
      put(graph().inputs[i], std::move(value));
    }
    for (NodeId id = 0; id < graph().nodes.size(); ++id) {
      const Node& node = graph().nodes[id];
      const std::vector<ValueId> reads = node.reads();
      std::vector<const Held*> operands;
      for (const ValueId value : reads) operands.push_back(value == no_value ? nullptr : values[value]);
      DRIFTSCOPE_TRY(std::vector<Held> results, rules_.evaluate(node, operands));
      for (std::size_t o = 0; o < results.size(); ++o)
        if (node.outputs[o] != no_value) put(node.outputs[o], std::move(results[o]));
      for (const ValueId value : reads)
        if (value != no_value && last_use_[value] == id) made[value].reset();
    }
    std::vector<Evaluated<S>> outputs;
    for (const ValueId id : graph().outputs) outputs.push_back(rules_.give(*values[id]));
    return outputs;
  }

  const Subgraph& subgraph_;
  SubgraphRules<S, Held> rules_;
  std::vector<std::optional<Held>> constants_;
  std::vector<const Held*> base_;  // constants and captured values
  std::vector<NodeId> last_use_;
};

}  // namespace driftscope
