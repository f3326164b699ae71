// Runs a node that an engine does not support on another engine's kernel: in host memory, in ONNX's
// order. Clients: GraphLowering; engines/strict implements Fallback.
#pragma once

#include <memory>
#include <vector>

#include "core/eval/evaluate.hpp"
#include "core/lowering/plan.hpp"

namespace driftscope::lowering {

/// Kernels for every node of a graph.
class Fallback {
 public:
  virtual ~Fallback() = default;
  /// Prepared for this node alone. `graph` and `node` outlive it.
  [[nodiscard]] virtual Result<std::unique_ptr<NodeRunner>> prepare(const Graph& graph, const Node& node) = 0;
};

/// `reads` in the order of node.reads() (no_buffer: omitted), `writes`: run_owned buffers in the order of
/// node.outputs. The graph and its node must outlive the step.
[[nodiscard]] Result<std::unique_ptr<Step>> make_fallback_step(const Graph& graph, const Node& node,
                                                               Fallback& fallback,
                                                               std::vector<BufferId> reads,
                                                               std::vector<BufferId> writes);

}  // namespace driftscope::lowering
