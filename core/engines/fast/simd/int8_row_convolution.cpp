#include "core/engines/fast/simd/int8_row_convolution.hpp"

#include <algorithm>
#include <cstring>

#include "core/numerics/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/engines/fast/simd/int8_row_convolution.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace driftscope::fast {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using SumTag = hn::ScalableTag<std::int32_t>;
using SumVector = hn::Vec<SumTag>;
using RealTag = hn::ScalableTag<float>;

constexpr std::size_t sum_lanes = hn::MaxLanes(SumTag());
// As in row_convolution.cpp: sums of a block fill the registers.
constexpr std::size_t block_pixels[] = {0, HWY_TARGET == HWY_WASM ? 8 : 12,
                                        HWY_MAX_BYTES >= 64      ? 12
                                        : HWY_TARGET == HWY_WASM ? 4
                                                                 : 6};

struct Panel {
  const std::int8_t* w;
  const std::int32_t* bias;
  const float* scale;
  std::uint8_t* y;
  std::size_t outputs;  ///< that exist
};

#if HWY_TARGET == HWY_SCALAR  // whose int16 vectors are no pairs

struct Pair {
  std::int32_t first, second;
};
HWY_INLINE Pair pair_at(const std::int16_t* from) { return {from[0], from[1]}; }
HWY_INLINE Pair widened(const std::int8_t* from) { return {from[0], from[1]}; }
HWY_INLINE SumVector plus_products(SumVector sum, Pair x, Pair w) {
  return hn::Add(sum, hn::Set(SumTag(), x.first * w.first + x.second * w.second));
}

#else

using PairTag = hn::Repartition<std::int16_t, SumTag>;
using Pair = hn::Vec<PairTag>;

/// Two neighbouring elements in every lane.
HWY_INLINE Pair pair_at(const std::int16_t* from) {
  std::int32_t both;
  std::memcpy(&both, from, sizeof both);
  return hn::BitCast(PairTag(), hn::Set(SumTag(), both));
}

/// Weights of a vector of outputs.
HWY_INLINE Pair widened(const std::int8_t* from) {
  return hn::PromoteTo(PairTag(), hn::LoadU(hn::Rebind<std::int8_t, PairTag>(), from));
}

HWY_INLINE SumVector plus_products(SumVector sum, Pair x, Pair w) {
  SumVector odd = hn::Zero(SumTag());  // stays 0 where an instruction adds both products
  const SumVector even = hn::ReorderWidenMulAccumulate(SumTag(), x, w, hn::Zero(SumTag()), odd);
  return hn::Add(sum, hn::RearrangeToOddPlusEven(even, odd));
}

#endif

class Scaling {
 public:
  HWY_INLINE explicit Scaling(const Int8RowsOfPixels& it)
      : low_(hn::Set(RealTag(), static_cast<float>(it.min - it.zero_point))),
        high_(hn::Set(RealTag(), static_cast<float>(it.max - it.zero_point))),
        zero_point_(hn::Set(SumTag(), it.zero_point)) {}

  HWY_INLINE SumVector operator()(SumVector sum, const float* scale) const {
    auto real = hn::Mul(hn::ConvertTo(RealTag(), sum), hn::LoadU(RealTag(), scale));
    real = hn::Min(hn::Max(real, low_), high_);
    return hn::Add(hn::NearestInt(real), zero_point_);
  }

 private:
  hn::Vec<RealTag> low_;
  hn::Vec<RealTag> high_;
  SumVector zero_point_;
};

HWY_INLINE void store(SumVector y, bool is_signed, std::uint8_t* to) {
  if (is_signed) {
    const hn::Rebind<std::int8_t, SumTag> d;
    hn::StoreU(hn::DemoteTo(d, y), d, reinterpret_cast<std::int8_t*>(to));
  } else {
    const hn::Rebind<std::uint8_t, SumTag> d;
    hn::StoreU(hn::DemoteTo(d, y), d, to);
  }
}

/// Where the windows of some pixels begin. They may go on in the next row: blocks within a row of a small
/// image would hold a few pixels each.
template <std::size_t pixels>
class Windows {
 public:
  HWY_INLINE Windows(const Int8RowsOfPixels& it, std::size_t first) : one_row_(it.pixels == it.width) {
    std::size_t column = one_row_ ? first : first % it.width;
    const std::int16_t* const* rows = one_row_ ? it.rows : it.rows + first / it.width * it.height;
    for (std::size_t p = 0; p < pixels; ++p) {
      rows_[p] = rows;
      offsets_[p] = column * it.step;
      if (++column < it.width) continue;
      column = 0;
      rows += it.height;
    }
  }
  HWY_INLINE void at_row(std::size_t i, const std::int16_t** x) const {
    if (one_row_) {
      const std::int16_t* row = rows_[0][i];
      for (std::size_t p = 0; p < pixels; ++p) x[p] = row + offsets_[p];
    } else {
      for (std::size_t p = 0; p < pixels; ++p) x[p] = rows_[p][i] + offsets_[p];
    }
  }

 private:
  bool one_row_;
  const std::int16_t* const* rows_[pixels];
  std::size_t offsets_[pixels];
};

template <std::size_t pixels, std::size_t vectors>
HWY_INLINE void block(const Int8RowsOfPixels& it, const Panel& panel, std::size_t first) {
  SumVector sums[pixels][vectors];
  for (auto& pixel : sums)
    for (std::size_t j = 0; j < vectors; ++j) pixel[j] = hn::LoadU(SumTag(), panel.bias + j * sum_lanes);
  const Windows<pixels> windows(it, first);
  const std::int8_t* w = panel.w;
  for (std::size_t i = 0; i < it.height; ++i) {
    const std::int16_t* x[pixels];
    windows.at_row(i, x);
    for (std::size_t k = 0; k < it.depth; k += 2, w += 2 * vectors * sum_lanes) {
      Pair factors[vectors];
      for (std::size_t j = 0; j < vectors; ++j) factors[j] = widened(w + 2 * j * sum_lanes);
      for (std::size_t p = 0; p < pixels; ++p) {
        const Pair both = pair_at(x[p] + k);
        for (std::size_t j = 0; j < vectors; ++j) sums[p][j] = plus_products(sums[p][j], both, factors[j]);
      }
    }
  }
  const Scaling scaled(it);
  for (std::size_t p = 0; p < pixels; ++p) {
    std::uint8_t* y = panel.y + (first + p) * it.outputs;
    if (panel.outputs == vectors * sum_lanes) {
      for (std::size_t j = 0; j < vectors; ++j)
        store(scaled(sums[p][j], panel.scale + j * sum_lanes), it.is_signed, y + j * sum_lanes);
    } else {
      std::uint8_t all[vectors * sum_lanes];
      for (std::size_t j = 0; j < vectors; ++j)
        store(scaled(sums[p][j], panel.scale + j * sum_lanes), it.is_signed, all + j * sum_lanes);
      std::copy_n(all, panel.outputs, y);
    }
  }
}

// Blocks as long as there are pixels for them; returns the first pixel that is left.
template <std::size_t pixels, std::size_t vectors>
HWY_INLINE std::size_t blocks(const Int8RowsOfPixels& it, const Panel& panel, std::size_t first) {
  for (; first + pixels <= it.pixels; first += pixels) block<pixels, vectors>(it, panel, first);
  return first;
}

template <std::size_t vectors>
HWY_INLINE void all_pixels(const Int8RowsOfPixels& it, const Panel& panel) {
  constexpr std::size_t most = block_pixels[vectors];
  std::size_t p = blocks<most, vectors>(it, panel, 0);
  if constexpr (most > 6) p = blocks<6, vectors>(it, panel, p);
  if constexpr (most > 4) p = blocks<4, vectors>(it, panel, p);
  p = blocks<2, vectors>(it, panel, p);
  blocks<1, vectors>(it, panel, p);
}

void run_rows(const Int8RowsOfPixels& it) {
  const std::size_t weights = it.height * (it.depth + it.depth % 2);  // of an output
  for (std::size_t o = 0; o < it.outputs; o += 2 * sum_lanes) {
    const Panel panel{it.w + o * weights, it.bias + o, it.scale + o, it.y + o,
                      std::min(it.outputs - o, 2 * sum_lanes)};
    if (panel.outputs > sum_lanes)
      all_pixels<2>(it, panel);
    else
      all_pixels<1>(it, panel);
  }
}

template <class Byte>
void widen(const Byte* from, std::int16_t zero_point, std::int16_t* to, std::size_t n) {
  const hn::ScalableTag<std::int16_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto zero = hn::Set(d, zero_point);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::Sub(hn::PromoteTo(d, hn::LoadU(hn::Rebind<Byte, decltype(d)>(), from + i)), zero), d,
               to + i);
  for (; i < n; ++i) to[i] = static_cast<std::int16_t>(from[i] - zero_point);
}

Int8RowKernels make_int8_row_kernels() {
  constexpr bool has_rival = HWY_MAX_BYTES >= 64 || HWY_TARGET == HWY_WASM;  // with products of four bytes
  return {{sum_lanes}, &run_rows, has_rival, &widen<std::int8_t>, &widen<std::uint8_t>};
}

}  // namespace HWY_NAMESPACE
}  // namespace driftscope::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "core/engines/strict/simd/dispatch.hpp"

namespace driftscope::fast {

HWY_EXPORT(make_int8_row_kernels);

Int8RowKernels int8_row_kernels(const SimdTarget& target) {
  return simd_function(HWY_DISPATCH_TABLE(make_int8_row_kernels), target.highway)();
}

}  // namespace driftscope::fast
#endif  // HWY_ONCE
