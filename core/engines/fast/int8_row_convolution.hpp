// Convolution of int8 and uint8 with int8 weights by rows of the window, which are contiguous in NHWC:
// nothing is padded to a vector of channels, and nothing is added across a vector, as XNNPACK does. Kernels:
// simd/int8_row_convolution.hpp. Client: operators/quantized_conv.cpp.
#pragma once

#include <vector>

#include "core/engines/fast/row_window.hpp"
#include "core/engines/fast/simd/int8_row_convolution.hpp"
#include "core/engines/strict/simd/aligned.hpp"
#include "core/platform/platform.hpp"

namespace driftscope::fast {

/// Whether it can be computed by rows: one group, a window without gaps.
[[nodiscard]] bool is_int8_row_convolution(const RowWindow& window, std::int64_t groups);

/// Whether that is faster than XNNPACK: always with AVX2 and less; where an instruction of 512 bits or of
/// WebAssembly does more, if XNNPACK would multiply a quarter of padding.
[[nodiscard]] bool int8_rows_pay(const RowWindow& window, const Int8RowKernels& kernels);

/// What one side of a quantized convolution holds.
struct Int8Form {
  bool is_signed = true;
  std::int32_t zero_point = 0;
};

/// How sums become outputs.
struct Int8Result {
  Int8Form form;
  std::int32_t min = 0;  ///< of the outputs, as numbers of their type
  std::int32_t max = 0;
};

class Int8RowConvolution {
 public:
  /// `weights`: outputs × inputs × height × width; `bias`: one for each output, or empty; `scales`: what a
  /// sum of each output is multiplied by. `threads` ≥ 1, at most those of the pool. Throws std::bad_alloc.
  Int8RowConvolution(const RowWindow& window, std::int64_t outputs, const Int8RowKernels& kernels,
                     const std::int8_t* weights, const std::vector<std::int32_t>& bias,
                     const std::vector<float>& scales, Int8Form x, const Int8Result& y, ThreadPool& pool,
                     std::int64_t threads);

  /// Bytes of scratch memory.
  [[nodiscard]] std::int64_t scratch() const {
    return parts_ * window_.ring_rows(at_once_) * spacing() * static_cast<std::int64_t>(sizeof(std::int16_t));
  }

  /// y is NHWC, and so is x, or NCHW.
  void run(const std::byte* x, bool channels_last, std::byte* y, std::byte* scratch) const;

 private:
  /// The kernels read pairs: one element behind a row.
  [[nodiscard]] std::int64_t spacing() const { return window_.pitch() + 1; }
  void pack(const std::int8_t* weights);
  void run_part(const std::byte* x, bool channels_last, std::byte* y, std::int64_t part,
                std::int16_t* scratch) const;
  void copy_row(const std::byte* x, bool channels_last, std::int64_t image, std::int64_t row,
                std::int16_t* to) const;

  RowWindow window_;
  std::int64_t outputs_;
  Int8RowKernels kernels_;
  ThreadPool& pool_;
  std::int64_t parts_;    // of the rows; each has its own part of the scratch memory
  std::int64_t at_once_;  // rows of outputs: enough pixels for the kernels
  AlignedArray<std::int8_t> weights_;
  std::vector<std::int32_t> bias_;
  std::vector<float> scales_;
  std::vector<std::int16_t> zeros_;
  Int8Form x_;
  Int8Result y_;
};

}  // namespace driftscope::fast
