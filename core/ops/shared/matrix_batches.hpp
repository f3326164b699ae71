// Batches of matrix products as in numpy.matmul: vectors on either side, broadcast batches.
// Clients: MatMul, MatMulInteger, QLinearMatMul.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "core/eval/kernel_context.hpp"
#include "core/numerics/dot.hpp"
#include "core/ops/shared/broadcast.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope {

/// The shape of A·B for inputs number a and b, as far as it is known; types are not checked.
[[nodiscard]] Result<std::optional<SymbolicShape>> infer_matmul(const InferContext& context,
                                                                std::array<std::size_t, 2> inputs,
                                                                std::array<std::string_view, 2> names);

/// Which matrices are multiplied: y[batch] (rows × columns) = a[batch] (rows × depth) · b[batch].
struct MatrixBatches {
  Shape batch;
  std::array<Shape, 2> strides;  ///< of A and B, in matrices, per batch axis
  std::int64_t batches = 1;
  std::int64_t rows = 1;
  std::int64_t depth = 1;
  std::int64_t columns = 1;

  MatrixBatches(const Shape& a, const Shape& b, const Shape& y) {
    const std::size_t matrix_axes = (a.size() > 1 ? 1u : 0u) + (b.size() > 1 ? 1u : 0u);
    batch.assign(y.begin(), y.end() - static_cast<std::ptrdiff_t>(matrix_axes));
    const auto batch_of = [](const Shape& shape) {
      return std::span(shape).first(shape.size() < 2 ? 0 : shape.size() - 2);
    };
    strides = {broadcast_strides(batch_of(a), batch), broadcast_strides(batch_of(b), batch)};
    for (const std::int64_t size : batch) batches *= size;
    if (a.size() > 1) rows = a[a.size() - 2];
    depth = a.back();
    if (b.size() > 1) columns = b.back();
  }
};

/// y = a·b, k ascending in every sum.
template <class Sums, class S>
void multiply_matrices(const KernelContext<S>& context, const MatrixBatches& product,
                       const typename Sums::Element* a, const typename Sums::Element* b,
                       std::span<typename Sums::Scalar> y) {
  const std::int64_t blocks = (product.columns + dot_block - 1) / dot_block;
  const std::int64_t width = std::min(product.columns, dot_block);
  context.parallel_for(
      product.batches * product.rows * blocks, dot_grain(product.depth * width),
      [&](std::int64_t begin, std::int64_t end) {
        Sums sums(width);
        for (std::int64_t item = begin; item < end; ++item) {
          const std::int64_t row = item / blocks;
          const std::int64_t first = item % blocks * dot_block;
          const std::int64_t count = std::min(dot_block, product.columns - first);
          const auto matrices = offsets_at(row / product.rows, product.batch, product.strides);
          sums.clear();
          add_matrix_row(sums, a + (matrices[0] * product.rows + row % product.rows) * product.depth, 1,
                         b + matrices[1] * product.depth * product.columns + first, product.columns, 1,
                         product.depth, count);
          for (std::int64_t j = 0; j < count; ++j)
            y[static_cast<std::size_t>(row * product.columns + first + j)] = sums.result(j, product.depth);
        }
      });
}

}  // namespace driftscope
