// How large the sums inside a node become on their way. A type of a small range may overflow there although
// every result fits. Client: float16_ranges.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/graph/graph.hpp"
#include "core/platform/platform.hpp"

namespace driftscope {

struct PartialSums {
  /// The largest magnitude after some terms, added in the order of the operator's definition: of products
  /// channels, then rows and columns of the kernel; of reductions as in memory.
  double largest = 0.0;
  /// In the worst order of the same terms: all positive ones, or all negative ones, first.
  double any_order = 0.0;
  std::int64_t sums = 0;    ///< that were looked at: where there are very many products, an even sample
  std::int64_t of_all = 0;  ///< sums of the node
};

/// Of MatMul, Gemm, Conv; ReduceSum, ReduceMean, ReduceSumSquare, ReduceL2, GlobalAveragePool; of mean and
/// variance of normalizations. `inputs` in the order of node.reads(), null where omitted; `y`: shape
/// of output 0. Nothing for other operators, and where an input is not floating or not known.
[[nodiscard]] std::optional<PartialSums> partial_sums(const Node& node, std::span<const Tensor* const> inputs,
                                                      const Shape& y, ThreadPool& threads);

}  // namespace driftscope
