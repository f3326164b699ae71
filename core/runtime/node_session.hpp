// A Session for engines that run node after node on the CPU: keeps values while they are still needed,
// computes what no input reaches once, times each node, notifies the TraceSink. The engine supplies
// run_node.
// Clients: engines/reference, engines/strict.
#pragma once

#include <memory>
#include <vector>

#include "core/runtime/engine.hpp"
#include "core/runtime/value_store.hpp"

namespace driftscope {

class NodeSession : public Session {
 public:
  explicit NodeSession(std::shared_ptr<const Graph> graph);

  [[nodiscard]] Status start(std::vector<Tensor> inputs, TraceSink& trace_sink) final;
  [[nodiscard]] Result<Progress> poll(std::int64_t budget_ns) final;
  [[nodiscard]] Result<std::vector<Tensor>> finish() final;

 protected:
  /// Computes one node: inputs in the order of node.reads() (null: omitted), outputs in the order of
  /// node.outputs.
  [[nodiscard]] virtual Result<std::vector<Tensor>> run_node(NodeId id,
                                                             std::span<const Tensor* const> inputs) = 0;

  [[nodiscard]] const Graph& graph() const { return *graph_; }

 private:
  [[nodiscard]] Status step();
  [[nodiscard]] Result<std::vector<Tensor>> compute(std::span<const Tensor* const> inputs);
  void keep_ahead(const std::vector<Tensor>& outputs);

  std::shared_ptr<const Graph> graph_;
  ValueStore store_;
  TraceSink* trace_sink_ = nullptr;
  NodeId next_ = 0;
  std::vector<bool> constant_;              // by node
  std::vector<std::vector<Tensor>> ahead_;  // by node: results of constant ones, from the first run
  std::size_t ahead_bytes_ = 0;
};

}  // namespace driftscope
