// Convolution of images of one to four channels, as first layers have them: a row of the window is contiguous
// in NHWC, which XNNPACK does not use: it goes pixel by pixel. Kernels: simd/row_convolution.hpp. Client:
// row_convolution_step.cpp.
#pragma once

#include <vector>

#include "core/engines/fast/row_window.hpp"
#include "core/engines/fast/simd/row_convolution.hpp"
#include "core/engines/strict/simd/aligned.hpp"
#include "core/platform/platform.hpp"

namespace driftscope::fast {

/// Whether a convolution of these channels is computed by rows: few of them, in one group, a window without
/// gaps.
[[nodiscard]] bool is_row_convolution(const RowWindow& window, std::int64_t groups);

class RowConvolution {
 public:
  /// `weights`: outputs × inputs × height × width; `bias` may be null. Both are copied. `threads` ≥ 1, at
  /// most those of the pool. Throws std::bad_alloc.
  RowConvolution(const RowWindow& window, std::int64_t outputs, const RowConvolutionKernels& kernels,
                 const float* weights, const float* bias, float min, float max, ThreadPool& pool,
                 std::int64_t threads);

  /// Floats of scratch memory.
  [[nodiscard]] std::int64_t scratch() const { return parts_ * window_.ring_rows(1) * window_.pitch(); }

  /// y is NHWC, and so is x, or NCHW. Sums begin with the bias and run over the window's rows, columns and
  /// channels, as XNNPACK's.
  void run(const float* x, bool channels_last, float* y, float* scratch) const;

 private:
  void pack(const float* weights);
  void run_part(const float* x, bool channels_last, float* y, std::int64_t part, float* scratch) const;

  RowWindow window_;
  std::int64_t outputs_;
  RowConvolutionKernels kernels_;
  ThreadPool& pool_;
  std::int64_t parts_;  // of the rows; each has its own part of the scratch memory
  AlignedFloats weights_;
  std::vector<float> bias_;
  std::vector<float> zeros_;
  float min_;
  float max_;
};

}  // namespace driftscope::fast
