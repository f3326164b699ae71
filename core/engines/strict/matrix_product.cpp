#include "core/engines/strict/matrix_product.hpp"

#include <algorithm>

namespace driftscope {
namespace {

constexpr std::int64_t panels_per_block = 8;         // of B, one block of k of which stays in the cache
constexpr std::int64_t tiles_per_block = 16;         // of A
constexpr std::int64_t products_per_chunk = 131072;  // worth a separate task

struct Range {
  std::int64_t begin;
  std::int64_t end;
  [[nodiscard]] std::int64_t size() const { return end - begin; }
};

template <class T>
class Product {
 public:
  Product(const ProductKernels<T>& kernels, const PackedRowsOf<T>& a, const PackedColumnsOf<T>& b, T* c,
          std::int64_t c_stride)
      : kernels_(kernels), a_(a), b_(b), c_(c), c_stride_(c_stride) {
    block_rows_ = kernels.rows * tiles_per_block;
    block_columns_ = kernels.columns * panels_per_block;
    row_blocks_ = (a.rows() + block_rows_ - 1) / block_rows_;
    column_blocks_ = (b.columns() + block_columns_ - 1) / block_columns_;
  }

  void run(ThreadPool& threads) const {
    const std::int64_t cost = std::max<std::int64_t>(
        1, std::min(block_rows_, a_.rows()) * std::min(block_columns_, b_.columns()) * b_.depth());
    threads.parallel_for(row_blocks_ * column_blocks_, std::max<std::int64_t>(1, products_per_chunk / cost),
                         [&](std::int64_t begin, std::int64_t end) {
                           for (std::int64_t task = begin; task < end; ++task) block(task);
                         });
  }

 private:
  // Consecutive tasks share the columns of B, which are the larger part.
  void block(std::int64_t task) const {
    const std::int64_t first_row = task % row_blocks_ * block_rows_;
    const std::int64_t first_column = task / row_blocks_ * block_columns_;
    const Range rows{first_row, std::min(a_.rows(), first_row + block_rows_)};
    const Range columns{first_column, std::min(b_.columns(), first_column + block_columns_)};
    // Columns after the last whole vector go through a copy that ends on a whole vector.
    const std::int64_t whole = columns.begin + columns.size() / kernels_.lanes * kernels_.lanes;
    const std::int64_t straight = whole / kernels_.columns * kernels_.columns;
    const bool all = columns.end == whole;
    if (const Range body{columns.begin, all ? columns.end : straight}; body.size() > 0)
      accumulate(rows, body, c_ + rows.begin * c_stride_ + body.begin, c_stride_);
    if (!all) tail(rows, {straight, columns.end});
  }

  void tail(Range rows, Range columns) const {
    alignas(64) T copy[max_tile];
    const std::int64_t stride = kernels_.columns;
    for (std::int64_t row = rows.begin; row < rows.end; row += kernels_.rows) {
      const Range tile{row, std::min(rows.end, row + kernels_.rows)};
      T* c = c_ + row * c_stride_ + columns.begin;
      for (std::int64_t i = 0; i < tile.size(); ++i) {
        std::copy_n(c + i * c_stride_, columns.size(), copy + i * stride);
        std::fill(copy + i * stride + columns.size(), copy + (i + 1) * stride, T(0));
      }
      accumulate(tile, columns, copy, stride);
      for (std::int64_t i = 0; i < tile.size(); ++i)
        std::copy_n(copy + i * stride, columns.size(), c + i * c_stride_);
    }
  }

  void accumulate(Range rows, Range columns, T* c, std::int64_t c_stride) const {
    kernels_.accumulate({.a = a_.panel(rows.begin),
                         .rows = rows.size(),
                         .depth = b_.depth(),
                         .b = b_.panel(columns.begin / kernels_.columns),
                         .offsets = b_.offsets(),
                         .b_panel = b_.panel_size(),
                         .c = c,
                         .c_stride = c_stride,
                         .columns = columns.size()});
  }

  static constexpr std::int64_t max_tile = 8 * 48;

  const ProductKernels<T>& kernels_;
  const PackedRowsOf<T>& a_;
  const PackedColumnsOf<T>& b_;
  T* c_;
  std::int64_t c_stride_;
  std::int64_t block_rows_;
  std::int64_t block_columns_;
  std::int64_t row_blocks_;
  std::int64_t column_blocks_;
};

}  // namespace

template <class T>
void accumulate_product(const ProductKernels<T>& kernels, const PackedRowsOf<T>& a,
                        const PackedColumnsOf<T>& b, T* c, std::int64_t c_stride, ThreadPool& threads) {
  Product<T>(kernels, a, b, c, c_stride).run(threads);
}

template void accumulate_product(const GemmKernels&, const PackedRows&, const PackedColumns&, float*,
                                 std::int64_t, ThreadPool&);
template void accumulate_product(const PairKernels&, const PackedRowsOf<std::int32_t>&,
                                 const PackedColumnsOf<std::int32_t>&, std::int32_t*, std::int64_t,
                                 ThreadPool&);

}  // namespace driftscope
