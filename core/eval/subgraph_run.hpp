// Runs a subgraph node after node. Client: evaluate, which gives it to the kernels of control flow.
// A value is released after its last use.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/eval/kernel_context.hpp"
#include "core/eval/subgraph_watch.hpp"
#include "core/graph/graph.hpp"
#include "core/platform/platform.hpp"

namespace driftscope {

/// How values are held between the nodes (`Held`: Evaluated<S>, or Tensor in the strict engine) and
/// how one node is evaluated.
template <class S, class Held>
struct SubgraphRules {
  std::function<Result<Held>(const Tensor& constant)> lift;
  std::function<Result<std::vector<Held>>(const Node&, std::span<const Held* const>)> evaluate;
  std::function<Result<Held>(Evaluated<S>)> take;
  std::function<Evaluated<S>(Held)> give;
  std::function<Result<Tensor>(const Held&)> show;  ///< to who looks at the nodes
};

template <class S, class Held>
class HeldSubgraphRun final : public SubgraphRun<S> {
 public:
  /// `captured` are the owner's captured values; they outlive this, as does the owner.
  HeldSubgraphRun(const Node& owner, const Subgraph& subgraph, std::span<const Held* const> captured,
                  SubgraphRules<S, Held> rules)
      : owner_(owner),
        subgraph_(subgraph),
        watch_(subgraph_watch()),
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

  ~HeldSubgraphRun() override {
    if (watch_ != nullptr) watch_->finished(owner_, iteration_);
  }
  HeldSubgraphRun(const HeldSubgraphRun&) = delete;
  HeldSubgraphRun& operator=(const HeldSubgraphRun&) = delete;

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
    if (watch_ != nullptr) watch_->enter(owner_, subgraph_, iteration_);
    auto outputs = run_nodes(std::move(inputs));
    if (watch_ != nullptr) watch_->leave();
    ++iteration_;
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
      DRIFTSCOPE_CHECK(show(graph().inputs[i], value));
      put(graph().inputs[i], std::move(value));
    }
    for (NodeId id = 0; id < graph().nodes.size(); ++id) {
      const Node& node = graph().nodes[id];
      const std::vector<ValueId> reads = node.reads();
      std::vector<const Held*> operands;
      for (const ValueId value : reads) operands.push_back(value == no_value ? nullptr : values[value]);
      const std::int64_t begin = watch_ == nullptr ? 0 : monotonic_ns();
      DRIFTSCOPE_TRY(std::vector<Held> results, rules_.evaluate(node, operands));
      if (watch_ != nullptr) watch_->node_done(graph(), id, monotonic_ns() - begin);
      for (std::size_t o = 0; o < results.size(); ++o) {
        if (node.outputs[o] == no_value) continue;
        DRIFTSCOPE_CHECK(show(node.outputs[o], results[o]));
        put(node.outputs[o], std::move(results[o]));
      }
      for (const ValueId value : reads)
        if (value != no_value && last_use_[value] == id) made[value].reset();
    }
    std::vector<Evaluated<S>> outputs;
    for (const ValueId id : graph().outputs) outputs.push_back(rules_.give(*values[id]));
    return outputs;
  }

  Status show(ValueId id, const Held& value) {
    if (watch_ == nullptr || !watch_->wants(graph(), id)) return {};
    DRIFTSCOPE_TRY(const Tensor tensor, rules_.show(value));
    return watch_->value(graph(), id, tensor);
  }

  const Node& owner_;
  const Subgraph& subgraph_;
  SubgraphWatch* watch_;
  std::int64_t iteration_ = 0;
  SubgraphRules<S, Held> rules_;
  std::vector<std::optional<Held>> constants_;
  std::vector<const Held*> base_;  // constants and captured values
  std::vector<NodeId> last_use_;
};

}  // namespace driftscope
