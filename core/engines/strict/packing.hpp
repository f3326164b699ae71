// Matrices rearranged so that the micro kernel of simd/gemm reads them front to back.
// Clients: matrix_product, the Conv kernel. Weights are packed once, when a session is prepared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/engines/strict/simd/aligned.hpp"
#include "core/engines/strict/simd/gemm.hpp"
#include "core/platform/platform.hpp"

namespace driftscope {

/// A matrix as it lies in memory: element (i, j) at data[i·row_step + j·column_step].
struct MatrixView {
  const float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_step = 0;
  std::int64_t column_step = 1;
};

/// A of a product, in panels of GemmKernels::rows rows, each stored column by column.
class PackedRows {
 public:
  PackedRows() = default;
  PackedRows(const GemmKernels& kernels, const MatrixView& a, ThreadPool& threads);

  /// The panel that begins at `row`, a multiple of the micro tile's rows.
  [[nodiscard]] const float* panel(std::int64_t row) const { return values_.data() + row * depth_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t depth() const { return depth_; }

 private:
  AlignedFloats values_;
  std::int64_t rows_ = 0;
  std::int64_t depth_ = 0;
};

/// B of a product, in panels of GemmKernels::columns columns, the last one filled up with zeros.
class PackedColumns {
 public:
  PackedColumns() = default;
  PackedColumns(const GemmKernels& kernels, const MatrixView& b, ThreadPool& threads);

  [[nodiscard]] const float* panel(std::int64_t index) const {
    return values_.data() + index * panel_size();
  }
  [[nodiscard]] std::int64_t panel_size() const { return depth_ * width_; }
  /// Where row k begins in a panel.
  [[nodiscard]] const std::ptrdiff_t* offsets() const { return offsets_.data(); }
  [[nodiscard]] std::int64_t depth() const { return depth_; }
  [[nodiscard]] std::int64_t columns() const { return columns_; }

 private:
  AlignedFloats values_;
  std::vector<std::ptrdiff_t> offsets_;
  std::int64_t depth_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t width_ = 1;
};

}  // namespace driftscope
