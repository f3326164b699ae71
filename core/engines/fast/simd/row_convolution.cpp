#include "core/engines/fast/simd/row_convolution.hpp"

#include <algorithm>

#include "core/numerics/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/engines/fast/simd/row_convolution.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "core/engines/fast/simd/mul_add-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace driftscope::fast {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t row_lanes = hn::MaxLanes(FloatTag());
// Sums of a block fill the registers, as in Winograd's product; pixels of a block by the vectors of a panel.
constexpr std::size_t block_pixels[] = {0, HWY_TARGET == HWY_WASM ? 8 : 12,
                                        HWY_MAX_BYTES >= 64      ? 12
                                        : HWY_TARGET == HWY_WASM ? 4
                                                                 : 6};

/// Outputs of one panel.
struct Panel {
  const float* w;
  const float* bias;
  float* y;
  std::size_t outputs;  ///< that exist
};

// NaN stays.
HWY_INLINE FloatVector row_clamped(FloatVector x, FloatVector min, FloatVector max) {
  x = hn::IfThenElse(hn::Lt(x, min), min, x);
  return hn::IfThenElse(hn::Gt(x, max), max, x);
}

template <std::size_t pixels, std::size_t vectors>
HWY_INLINE void block(const RowOfPixels& it, const Panel& panel, std::size_t first) {
  const FloatTag d;
  FloatVector sums[pixels][vectors];
  for (auto& pixel : sums)
    for (std::size_t j = 0; j < vectors; ++j) pixel[j] = hn::LoadU(d, panel.bias + j * row_lanes);
  const float* w = panel.w;
  for (std::size_t i = 0; i < it.height; ++i) {
    const float* row = it.rows[i] + first * it.step;
    for (std::size_t k = 0; k < it.depth; ++k, w += vectors * row_lanes) {
      FloatVector factors[vectors];
      for (std::size_t j = 0; j < vectors; ++j) factors[j] = hn::LoadU(d, w + j * row_lanes);
      for (std::size_t p = 0; p < pixels; ++p) {
        const FloatVector x = hn::Set(d, row[p * it.step + k]);
        for (std::size_t j = 0; j < vectors; ++j) sums[p][j] = mul_add(x, factors[j], sums[p][j]);
      }
    }
  }
  const FloatVector min = hn::Set(d, it.min);
  const FloatVector max = hn::Set(d, it.max);
  for (std::size_t p = 0; p < pixels; ++p) {
    float* y = panel.y + (first + p) * it.outputs;
    if (panel.outputs == vectors * row_lanes) {
      for (std::size_t j = 0; j < vectors; ++j)
        hn::StoreU(row_clamped(sums[p][j], min, max), d, y + j * row_lanes);
    } else {
      HWY_ALIGN float all[vectors * row_lanes];
      for (std::size_t j = 0; j < vectors; ++j)
        hn::Store(row_clamped(sums[p][j], min, max), d, all + j * row_lanes);
      std::copy_n(all, panel.outputs, y);
    }
  }
}

// Blocks as long as there are pixels for them; returns the first pixel that is left.
template <std::size_t pixels, std::size_t vectors>
HWY_INLINE std::size_t blocks(const RowOfPixels& it, const Panel& panel, std::size_t first) {
  for (; first + pixels <= it.pixels; first += pixels) block<pixels, vectors>(it, panel, first);
  return first;
}

template <std::size_t vectors>
HWY_INLINE void all_pixels(const RowOfPixels& it, const Panel& panel) {
  constexpr std::size_t most = block_pixels[vectors];
  std::size_t p = blocks<most, vectors>(it, panel, 0);
  if constexpr (most > 6) p = blocks<6, vectors>(it, panel, p);
  p = blocks<3, vectors>(it, panel, p);
  blocks<1, vectors>(it, panel, p);
}

void run_row(const RowOfPixels& it) {
  const std::size_t weights = it.height * it.depth;  // of an output
  for (std::size_t o = 0; o < it.outputs; o += 2 * row_lanes) {
    const Panel panel{it.w + o * weights, it.bias + o, it.y + o, std::min(it.outputs - o, 2 * row_lanes)};
    if (panel.outputs > row_lanes)
      all_pixels<2>(it, panel);
    else
      all_pixels<1>(it, panel);
  }
}

RowConvolutionKernels make_row_convolution_kernels() { return {{row_lanes}, &run_row}; }

}  // namespace HWY_NAMESPACE
}  // namespace driftscope::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "core/engines/strict/simd/dispatch.hpp"

namespace driftscope::fast {

HWY_EXPORT(make_row_convolution_kernels);

RowConvolutionKernels row_convolution_kernels(const SimdTarget& target) {
  return simd_function(HWY_DISPATCH_TABLE(make_row_convolution_kernels), target.highway)();
}

}  // namespace driftscope::fast
#endif  // HWY_ONCE
