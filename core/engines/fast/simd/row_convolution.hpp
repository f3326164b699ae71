// Convolution of an image whose channels are so few that a row of the window, its pixels with all their
// channels, is read as one: products of overlapping rows with the weights. Client: row_convolution.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/engines/fast/simd/row_panels.hpp"
#include "core/engines/strict/simd/target.hpp"

namespace driftscope::fast {

/// Outputs of pixels that lie side by side. y[p][o] = bias[o] + Σ rows[i][p·step + k]·w[i][k][o], in this
/// order.
struct RowOfPixels {
  const float* const* rows = nullptr;  ///< of the window of the first pixel
  std::size_t height = 0;              ///< of the window
  std::size_t depth = 0;               ///< floats of a row of the window: its width × channels
  std::size_t step = 0;                ///< floats from a pixel's window to the next one's
  const float* w = nullptr;     ///< panels of RowConvolutionKernels::columns outputs: [panel][height][depth]
  const float* bias = nullptr;  ///< as many as the panels have
  float min = 0.0f;
  float max = 0.0f;
  float* y = nullptr;
  std::size_t outputs = 0;  ///< also floats from one pixel to the next
  std::size_t pixels = 0;
};

struct RowConvolutionKernels : RowPanels {
  void (*run)(const RowOfPixels& it) = nullptr;
};

[[nodiscard]] RowConvolutionKernels row_convolution_kernels(const SimdTarget& target);

}  // namespace driftscope::fast
