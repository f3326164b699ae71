// A matrix of weights, some columns at a time: a deferred one need not be entirely in memory
// beside the packed copy made from it. Clients: the engines strict and fast.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/tensor.hpp"

namespace driftscope {

/// Columns of a product, begin ≤ j < end.
struct Columns {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t count() const { return end - begin; }
};

/// A float32 tensor [depth, columns], or [columns, depth] where it is transposed.
struct WeightMatrix {
  const Tensor& tensor;
  bool transposed = false;

  [[nodiscard]] std::int64_t depth() const { return tensor.shape()[transposed ? 1 : 0]; }
  [[nodiscard]] std::int64_t columns() const { return tensor.shape()[transposed ? 0 : 1]; }
};

/// All columns at once if the tensor is in memory; else parts of about 8 MB, multiples of `multiple` columns.
[[nodiscard]] std::vector<Columns> column_parts(const WeightMatrix& matrix, std::int64_t multiple);

/// Copies these columns in their order: [depth, count] or [count, depth]. The tensor stays deferred.
void copy_columns(const WeightMatrix& matrix, Columns part, std::span<float> to);

}  // namespace driftscope
