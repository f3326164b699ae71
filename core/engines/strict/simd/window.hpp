// Sums and maxima over the taps of many windows at once, SIMD across windows, taps in their order.
// Clients: the strict kernels of MaxPool and AveragePool, on the layout of window_grid.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/engines/strict/simd/target.hpp"

namespace driftscope {

/// Windows with tap t of window i at taps[offsets[t] + i]. `count` is rounded up to whole
/// vectors: taps and y must be large enough.
struct WindowRun {
  const float* taps = nullptr;
  const std::ptrdiff_t* offsets = nullptr;
  std::size_t tap_count = 0;
  float* y = nullptr;
  std::int64_t count = 0;
};

struct WindowKernels {
  int lanes = 0;
  void (*sum)(const WindowRun& run) = nullptr;  ///< from +0
  void (*max)(const WindowRun& run) = nullptr;  ///< from −∞; best > x or best NaN ? best : x
  /// y[i] = x[2·i] for i in [0, count).
  void (*every_second)(const float* x, float* y, std::int64_t count) = nullptr;
};

[[nodiscard]] WindowKernels window_kernels(const SimdTarget& target);

}  // namespace driftscope
