// Runs one node with its reference kernel, in double, Bounded or float.
// Clients: the reference engine (double), verify (Bounded), strict where it has no faster kernel.
#pragma once

#include <span>
#include <vector>

#include "core/eval/evaluated.hpp"
#include "core/eval/operator.hpp"
#include "core/numerics/error_model.hpp"

namespace driftscope {

/// The memory of an output that is no longer needed, for later outputs: the first touch of fresh
/// memory costs more than computing into it.
template <class S>
class OutputMemory {
 public:
  /// `size` times S().
  [[nodiscard]] std::vector<S> take(std::size_t size, ThreadPool& threads);
  /// The largest is kept.
  void give_back(std::vector<S> values);

 private:
  std::vector<S> spare_;
};

/// What verification adds to an evaluation.
template <class S>
struct Evaluation {
  const Tensor* recorded = nullptr;  ///< the engine's output 0; see uses_recorded_state
  OutputMemory<S>* memory = nullptr;
  const ErrorModel* model = nullptr;  ///< the engine's, for Bounded; null inside kernels: as around
};

/// Outputs in the order of node.outputs. Inputs in the order of node.reads(); omitted ones have an
/// undefined dtype. Shapes are checked with the operator's shape rule first.
template <class S>
[[nodiscard]] Result<std::vector<Evaluated<S>>> evaluate(const Node& node,
                                                         std::span<const Evaluated<S>* const> inputs,
                                                         ThreadPool& threads, const Evaluation<S>& with = {});

/// Runs one node with the results of evaluate_strict, only faster: the strict engine with its kernels.
class NodeRunner {
 public:
  virtual ~NodeRunner() = default;
  [[nodiscard]] virtual Result<std::vector<Tensor>> run(const Node& node,
                                                        std::span<const Tensor* const> inputs) = 0;
};

/// float32 in, float32 out without copies: the scalar kernel. A node that reads float64 is
/// computed in double. `inside` runs the nodes of subgraphs; if null, evaluate_strict does.
[[nodiscard]] Result<std::vector<Tensor>> evaluate_strict(const Node& node,
                                                          std::span<const Tensor* const> inputs,
                                                          ThreadPool& threads, NodeRunner* inside = nullptr);

}  // namespace driftscope
