// Walks tensors that are broadcast against one another, row by row of the output.
// Clients: elementwise kernels, Gemm's C, MatMul's batches. Whether shapes fit is checked in the
// shape rules (shape_rules.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/model/tensor.hpp"

namespace driftscope {

/// Elements from one index to the next along each axis of `out`; 0 where `shape` is repeated.
/// Axes are aligned at the end.
[[nodiscard]] inline Shape broadcast_strides(std::span<const std::int64_t> shape,
                                             std::span<const std::int64_t> out) {
  Shape strides(out.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t size = shape[shape.size() - 1 - i];
    if (size != 1) strides[out.size() - 1 - i] = stride;
    stride *= size;
  }
  return strides;
}

/// The offset, for each stride list, of the element with this row-major index in `shape`.
template <std::size_t N>
[[nodiscard]] std::array<std::int64_t, N> offsets_at(std::int64_t index, std::span<const std::int64_t> shape,
                                                     const std::array<Shape, N>& strides) {
  std::array<std::int64_t, N> offsets{};
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const std::int64_t coordinate = index % shape[axis];
    index /= shape[axis];
    for (std::size_t i = 0; i < N; ++i) offsets[i] += coordinate * strides[i][axis];
  }
  return offsets;
}

/// Rows of a non-empty output: everything but its last axis (a scalar is one row of one).
struct BroadcastRows {
  std::int64_t rows = 1;
  std::int64_t columns = 1;

  explicit BroadcastRows(std::span<const std::int64_t> out) {
    for (const std::int64_t size : out) rows *= size;
    if (!out.empty()) columns = out.back();
    rows /= columns;
  }
};

}  // namespace driftscope
