// The nodes of a graph and of the graphs inside them (If, Loop, Scan), prepared for a session: those that
// depend only on constants are computed ahead, the others get their fast kernel if there is one. Both
// give the bits of evaluate_strict. Client: session.
#pragma once

#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/engines/strict/kernel_table.hpp"
#include "core/engines/strict/prepared_inputs.hpp"
#include "core/eval/evaluate.hpp"

namespace driftscope {

class PreparedNodes final : public NodeRunner {
 public:
  PreparedNodes(const SimdTarget& simd, ThreadPool& threads) : simd_(simd), threads_(threads) {}

  /// Packs weights and makes plans. `graph` outlives this; packed weights that no other node reads
  /// are removed from it. An error names the node.
  [[nodiscard]] Status prepare(Graph& graph);

  /// The same for the nodes inside this one alone, which outlives this; no weights are removed.
  [[nodiscard]] Status prepare_inside(const Node& node);

  /// A node of the graph or of one inside it; inputs in the order of node.reads().
  [[nodiscard]] Result<std::vector<Tensor>> run(const Node& node,
                                                std::span<const Tensor* const> inputs) override;

  /// Whether this node was computed ahead or has a fast kernel.
  [[nodiscard]] bool is_fast(const Node& node) const;

 private:
  struct Prepared {
    std::unique_ptr<StrictKernel> kernel;  // null: the scalar kernel
    std::vector<Tensor> folded;            // the outputs, if already computed
    strict::PreparedInputs expected;       // what the kernel was made for, checked each time
  };

  /// The node and those of the graphs inside it.
  [[nodiscard]] Status prepare_deep(const Graph& graph, const Node& node);
  [[nodiscard]] const StrictKernel* kernel_of(const Node& node) const;
  void release_packed(Graph& graph, const Node& node, const std::vector<int>& readers);
  [[nodiscard]] Status prepare_node(const StrictSite& site, FoldedValues& folded);
  [[nodiscard]] Status fold(const StrictSite& site, FoldedValues& folded, Prepared& prepared);

  const SimdTarget& simd_;
  ThreadPool& threads_;
  std::unordered_map<const Node*, Prepared> nodes_;
  std::map<const Graph*, FoldedValues> folded_;  // kernels refer to them
};

}  // namespace driftscope
