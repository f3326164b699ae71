// MatMulNBits for few rows: weights stay packed in 4 or 8 bits, and are read once for up to four rows.
// Kernels: simd/nbits_product.hpp. Client: operators/matmul_nbits.cpp.
#pragma once

#include <vector>

#include "core/engines/fast/simd/nbits_product.hpp"
#include "core/engines/strict/simd/aligned.hpp"
#include "core/ops/shared/matmul_nbits.hpp"
#include "core/platform/platform.hpp"

namespace driftscope::fast {

/// Whether each block of K has a scale of its own, in their order: other weights are not multiplied here.
[[nodiscard]] bool are_blocks(const std::vector<std::int64_t>& groups, const NBitsLayout& layout);

class NBitsProduct {
 public:
  /// `bias`: one number per column, or null; it and the weights are copied. `middle`: all zero points are
  /// 2^(bits−1). `threads`: how many share the columns. Throws std::bad_alloc.
  NBitsProduct(const NBitsLayout& layout, const NBitsWeights& weights, bool middle, const float* bias,
               const NBitsKernels& kernels, std::int64_t rows, ThreadPool& pool, std::int64_t threads);

  /// Floats of scratch memory.
  [[nodiscard]] std::int64_t scratch() const { return rows_ * (depth() + 1); }

  /// y [rows × columns] = a [rows × depth] · weights + bias: over blocks, scale · Σ a·(q − zero). Each row is
  /// multiplied as if its largest number were between 1 and 2: no product overflows unless its sum does.
  void run(const float* a, float* y, float* scratch) const;

 private:
  [[nodiscard]] std::int64_t depth() const { return layout_.blocks() * layout_.block; }
  [[nodiscard]] std::int64_t numbers() const { return 32 / bits_; }
  [[nodiscard]] std::int64_t panels() const;
  [[nodiscard]] std::int64_t block_words() const;
  void pack(const NBitsWeights& weights, std::int64_t panel);
  [[nodiscard]] float prepare(const float* from, float* to) const;

  NBitsLayout layout_;
  std::int64_t bits_;  // as they are kept: 4 or 8
  NBitsKernels kernels_;
  NBitsZeros zeros_;
  std::int64_t rows_;
  ThreadPool& pool_;
  std::int64_t parts_;
  AlignedArray<std::uint32_t> data_;
  std::vector<float> bias_;
};

}  // namespace driftscope::fast
