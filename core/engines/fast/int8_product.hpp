// MatMulInteger with a constant matrix: (A − its zero point)·(B − its zero points) in 32-bit sums, which wrap
// around. Kernels: simd/int8_product.hpp. Client: operators/integer_matmul.cpp.
#pragma once

#include <span>
#include <vector>

#include "core/engines/fast/simd/int8_product.hpp"
#include "core/engines/strict/simd/aligned.hpp"
#include "core/model/tensor.hpp"
#include "core/platform/platform.hpp"

namespace driftscope::fast {

class Int8Product {
 public:
  /// `b`: depth × columns of int8 or uint8; copied. `zeros`: its zero points, one or one per column.
  /// `a_signed`: whether A is int8. `threads`: how many share the columns. Throws std::bad_alloc.
  Int8Product(const Tensor& b, std::span<const std::int32_t> zeros, const Int8Kernels& kernels,
              std::int64_t rows, bool a_signed, ThreadPool& pool, std::int64_t threads);

  /// Bytes of scratch memory.
  [[nodiscard]] std::size_t scratch() const;
  /// y [rows × columns] of a [rows × depth] and the zero point of A.
  void run(const std::uint8_t* a, std::int32_t a_zero, std::int32_t* y, std::byte* scratch) const;

 private:
  [[nodiscard]] std::int64_t groups() const { return (depth_ + 3) / 4; }
  [[nodiscard]] std::int64_t width() const { return static_cast<std::int64_t>(kernels_.columns); }
  [[nodiscard]] std::int64_t panels() const { return (columns_ + width() - 1) / width(); }
  [[nodiscard]] std::int64_t panel_bytes() const { return groups() * 4 * width(); }
  void pack(const std::uint8_t* b, std::uint8_t flip, std::int64_t panel);
  void prepare(const std::uint8_t* a, std::uint32_t zero, std::uint8_t* rows, std::int32_t* terms) const;

  std::int64_t depth_;
  std::int64_t columns_;
  std::int64_t rows_;
  std::uint8_t a_flip_;  // of the uppermost bit: int8 as uint8, 128 more
  Int8Kernels kernels_;
  ThreadPool& pool_;
  std::int64_t parts_;
  AlignedArray<std::int8_t> data_;   // panels
  std::vector<std::int32_t> sums_;   // of each column of B, as packed
  std::vector<std::int32_t> zeros_;  // of each column, likewise
};

}  // namespace driftscope::fast
