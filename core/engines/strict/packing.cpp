#include "core/engines/strict/packing.hpp"

#include <algorithm>

namespace driftscope {
namespace {

constexpr std::int64_t elements_per_chunk = 65536;  // worth a separate task

std::int64_t grain(std::int64_t panel_size) {
  return std::max<std::int64_t>(1, elements_per_chunk / std::max<std::int64_t>(1, panel_size));
}

}  // namespace

template <class T>
PackedRowsOf<T>::PackedRowsOf(const ProductKernels<T>& kernels, const MatrixViewOf<T>& a, ThreadPool& threads)
    : values_(a.rows * a.columns), rows_(a.rows), depth_(a.columns) {
  const std::int64_t height = kernels.rows;
  const std::int64_t panels = (rows_ + height - 1) / height;
  threads.parallel_for(panels, grain(height * depth_), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin * height; row < std::min(rows_, end * height); row += height) {
      const std::int64_t count = std::min(height, rows_ - row);
      T* out = values_.data() + row * depth_;
      for (std::int64_t r = 0; r < count; ++r) {
        const T* in = a.data + (row + r) * a.row_step;
        for (std::int64_t k = 0; k < depth_; ++k) out[k * count + r] = in[k * a.column_step];
      }
    }
  });
}

template <class T>
PackedColumnsOf<T>::PackedColumnsOf(const ProductKernels<T>& kernels, const MatrixViewOf<T>& b,
                                    ThreadPool& threads)
    : PackedColumnsOf(kernels, b.rows, b.columns) {
  pack(0, b, threads);
}

template <class T>
PackedColumnsOf<T>::PackedColumnsOf(const ProductKernels<T>& kernels, std::int64_t depth,
                                    std::int64_t columns)
    : depth_(depth), columns_(columns), width_(kernels.columns) {
  const std::int64_t panels = (columns_ + width_ - 1) / width_;
  values_ = AlignedArray<T>(panels * panel_size());
  offsets_.resize(static_cast<std::size_t>(depth_));
  for (std::int64_t k = 0; k < depth_; ++k)
    offsets_[static_cast<std::size_t>(k)] = static_cast<std::ptrdiff_t>(k * width_);
}

template <class T>
void PackedColumnsOf<T>::pack(std::int64_t first, const MatrixViewOf<T>& b, ThreadPool& threads) {
  const std::int64_t panels = (b.columns + width_ - 1) / width_;
  T* const begin_of_part = values_.data() + first / width_ * panel_size();
  threads.parallel_for(panels, grain(panel_size()), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t count = std::min(width_, b.columns - p * width_);
      T* out = begin_of_part + p * panel_size();
      const T* in = b.data + p * width_ * b.column_step;
      for (std::int64_t k = 0; k < depth_; ++k, out += width_, in += b.row_step) {
        if (b.column_step == 1) {
          std::copy_n(in, count, out);
        } else {
          for (std::int64_t j = 0; j < count; ++j) out[j] = in[j * b.column_step];
        }
        std::fill(out + count, out + width_, T(0));
      }
    }
  });
}

PackedColumns pack_weights(const GemmKernels& kernels, const WeightMatrix& matrix, ThreadPool& threads) {
  const std::int64_t depth = matrix.depth();
  PackedColumns packed(kernels, depth, matrix.columns());
  AlignedFloats copy;
  for (const Columns part : column_parts(matrix, kernels.columns)) {
    const std::int64_t count = part.count();
    const float* data = nullptr;
    if (count == matrix.columns()) {
      data = matrix.tensor.values<float>().data();
    } else {
      if (copy.data() == nullptr) copy = AlignedFloats(count * depth);
      copy_columns(matrix, part, {copy.data(), static_cast<std::size_t>(count * depth)});
      data = copy.data();
    }
    packed.pack(part.begin,
                matrix.transposed ? MatrixView{data, depth, count, 1, depth}
                                  : MatrixView{data, depth, count, count, 1},
                threads);
  }
  return packed;
}

template class PackedRowsOf<float>;
template class PackedRowsOf<std::int32_t>;
template class PackedColumnsOf<float>;
template class PackedColumnsOf<std::int32_t>;

}  // namespace driftscope
