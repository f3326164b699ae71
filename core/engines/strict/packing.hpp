// Matrices rearranged so that the micro kernel of simd/gemm reads them front to back.
// Clients: matrix_product, the Conv kernel. Weights are packed once, when a session is prepared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/engines/strict/simd/aligned.hpp"
#include "core/engines/strict/simd/gemm.hpp"
#include "core/model/matrix_parts.hpp"
#include "core/platform/platform.hpp"

namespace driftscope {

/// A matrix in memory: element (i, j) at data[i·row_step + j·column_step].
template <class T>
struct MatrixViewOf {
  const T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_step = 0;
  std::int64_t column_step = 1;
};

/// A of a product, in panels of ProductKernels::rows rows, each stored column by column.
template <class T>
class PackedRowsOf {
 public:
  PackedRowsOf() = default;
  PackedRowsOf(const ProductKernels<T>& kernels, const MatrixViewOf<T>& a, ThreadPool& threads);

  /// The panel that begins at `row`, a multiple of the micro tile's rows.
  [[nodiscard]] const T* panel(std::int64_t row) const { return values_.data() + row * depth_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t depth() const { return depth_; }

 private:
  AlignedArray<T> values_;
  std::int64_t rows_ = 0;
  std::int64_t depth_ = 0;
};

/// B of a product, in panels of ProductKernels::columns columns, the last one padded with zeros.
template <class T>
class PackedColumnsOf {
 public:
  PackedColumnsOf() = default;
  PackedColumnsOf(const ProductKernels<T>& kernels, const MatrixViewOf<T>& b, ThreadPool& threads);
  /// Allocates memory for columns to be packed.
  PackedColumnsOf(const ProductKernels<T>& kernels, std::int64_t depth, std::int64_t columns);

  /// Packs the columns from `first` on, which begins a panel; they end with one, or with the last column.
  void pack(std::int64_t first, const MatrixViewOf<T>& b, ThreadPool& threads);

  [[nodiscard]] const T* panel(std::int64_t index) const { return values_.data() + index * panel_size(); }
  [[nodiscard]] std::int64_t panel_size() const { return depth_ * width_; }
  /// The start of row k in a panel.
  [[nodiscard]] const std::ptrdiff_t* offsets() const { return offsets_.data(); }
  [[nodiscard]] std::int64_t depth() const { return depth_; }
  [[nodiscard]] std::int64_t columns() const { return columns_; }

 private:
  AlignedArray<T> values_;
  std::vector<std::ptrdiff_t> offsets_;
  std::int64_t depth_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t width_ = 1;
};

using MatrixView = MatrixViewOf<float>;
using PackedRows = PackedRowsOf<float>;
using PackedColumns = PackedColumnsOf<float>;

/// B of a product from a tensor; a deferred one is read in parts.
[[nodiscard]] PackedColumns pack_weights(const GemmKernels& kernels, const WeightMatrix& matrix,
                                         ThreadPool& threads);

}  // namespace driftscope
