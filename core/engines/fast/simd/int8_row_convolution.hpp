// Convolution of int8 or uint8 by rows of the window, each read as one: products of overlapping rows, widened
// to int16, with the weights, two at a time. Sums are exact, their scaling is rounded to nearest even once.
// Client: int8_row_convolution.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/engines/fast/simd/row_panels.hpp"
#include "core/engines/strict/simd/target.hpp"

namespace driftscope::fast {

/// Outputs of the pixels of some rows, of pixel p in row r: y[p][o] = clamp(round(scale[o]·(bias[o] + Σ
/// rows[r][i][p % width·step + k]·w[i][k][o])) + zero_point, min, max).
struct Int8RowsOfPixels {
  /// [row][height], each at the window of its first pixel; one element behind a window is read, too.
  const std::int16_t* const* rows = nullptr;
  std::size_t width = 0;   ///< pixels of a row
  std::size_t height = 0;  ///< of the window
  std::size_t depth = 0;   ///< elements of a row of the window: its width × channels
  std::size_t step = 0;    ///< elements from a pixel's window to the next one's
  /// Panels of Int8RowKernels::columns() outputs: [panel][height][pairs][output][2], 0 where `depth` is odd.
  const std::int8_t* w = nullptr;
  const std::int32_t* bias = nullptr;  ///< as many as the panels have
  const float* scale = nullptr;        ///< likewise
  std::int32_t zero_point = 0;
  std::int32_t min = 0;
  std::int32_t max = 0;
  bool is_signed = true;
  std::uint8_t* y = nullptr;
  std::size_t outputs = 0;  ///< also bytes from one pixel to the next
  std::size_t pixels = 0;   ///< of all rows
};

struct Int8RowKernels : RowPanels {
  void (*run)(const Int8RowsOfPixels& it) = nullptr;
  /// Whether XNNPACK has kernels for this instruction set that are as fast on whole vectors of channels.
  bool has_rival = false;
  /// int16 from int8 or uint8, less a zero point.
  void (*widen_signed)(const std::int8_t* from, std::int16_t zero_point, std::int16_t* to,
                       std::size_t n) = nullptr;
  void (*widen_unsigned)(const std::uint8_t* from, std::int16_t zero_point, std::int16_t* to,
                         std::size_t n) = nullptr;
};

[[nodiscard]] Int8RowKernels int8_row_kernels(const SimdTarget& target);

}  // namespace driftscope::fast
