// Runs one node with its reference kernel, in double, Bounded or float.
// Clients: the reference engine (double), verify (Bounded), strict where it has no faster kernel.
#pragma once

#include <span>
#include <vector>

#include "core/ops/operator.hpp"
#include "core/ops/support/evaluated.hpp"

namespace driftscope {

/// Outputs in the order of node.outputs. Inputs in the order of node.reads(); omitted ones have an
/// undefined dtype. Shapes are checked with the operator's shape rule first.
template <class S>
[[nodiscard]] Result<std::vector<Evaluated<S>>> evaluate(const Node& node,
                                                         std::span<const Evaluated<S>* const> inputs,
                                                         ThreadPool& threads);

/// Runs one node as evaluate_strict does, only faster: the strict engine with its kernels.
class NodeRunner {
 public:
  virtual ~NodeRunner() = default;
  [[nodiscard]] virtual Result<std::vector<Tensor>> run(const Node& node,
                                                        std::span<const Tensor* const> inputs) = 0;
};

/// float32 in, float32 out without copies: the plain strict kernel. A node that reads float64 is
/// computed in double. `inside` runs the nodes of subgraphs; null: evaluate_strict does.
[[nodiscard]] Result<std::vector<Tensor>> evaluate_strict(const Node& node,
                                                          std::span<const Tensor* const> inputs,
                                                          ThreadPool& threads,
                                                          NodeRunner* inside = nullptr);

}  // namespace driftscope
