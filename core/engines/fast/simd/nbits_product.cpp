#include "core/engines/fast/simd/nbits_product.hpp"

#include <algorithm>
#include <array>

#include "core/numerics/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/engines/fast/simd/nbits_product.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include "core/engines/fast/simd/mul_add-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace driftscope::fast {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using StepTag = hn::RebindToSigned<FloatTag>;
using StepVector = hn::Vec<StepTag>;
constexpr std::size_t nbits_lanes = hn::MaxLanes(FloatTag());
constexpr std::size_t panel_vectors = 4;
constexpr std::size_t panel_columns = panel_vectors * nbits_lanes;
// The processor's own prefetching ends with every page. In words of 32 bits.
constexpr std::size_t words_ahead = 1024;
constexpr std::size_t prefetched_words = 16;  // a cache line

constexpr std::array<std::int32_t, nbits_lanes> in_all_lanes(std::uint32_t word) {
  std::array<std::int32_t, nbits_lanes> all{};
  all.fill(static_cast<std::int32_t>(word));
  return all;
}

/// Of number i of a word. In memory: there are more than registers.
template <int bits, int i>
struct Place {
  HWY_ALIGN static constexpr auto mask = in_all_lanes(((std::uint32_t{1} << bits) - 1) << (bits * i));
  HWY_ALIGN static constexpr auto middle = in_all_lanes(std::uint32_t{1} << (bits * i + bits - 1));
};

/// Number i of each word, as a float.
template <int bits, NBitsZeros zeros, int i>
HWY_INLINE FloatVector decoded(StepVector words, FloatVector zero) {
  const StepTag d;
  if constexpr (zeros == NBitsZeros::middle) {
    // The number in the uppermost bits is negative from the middle on: both differences wrap.
    const StepVector place = hn::Load(d, Place<bits, i>::mask.data());
    const StepVector middle = hn::Load(d, Place<bits, i>::middle.data());
    return hn::ConvertTo(FloatTag(), hn::Sub(hn::And(words, place), middle));
  } else {
    constexpr std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
    const StepVector number =
        hn::And(hn::ShiftRight<bits * i>(words), hn::Set(d, static_cast<std::int32_t>(mask)));
    return hn::Sub(hn::ConvertTo(FloatTag(), number), zero);
  }
}

/// Outputs of some rows, and of `vectors` vectors of the panel's columns from `first` on.
template <int bits, NBitsZeros zeros, std::size_t rows, std::size_t vectors>
struct NBitsSums {
  static constexpr int numbers = 32 / bits;

  FloatVector partial[rows][vectors];  // of a block
  FloatVector zero[vectors];

  template <int i>
  HWY_INLINE void add(const StepVector (&words)[vectors], const float* a, std::size_t stride) {
    if constexpr (i < numbers) {
      const FloatTag d;
      FloatVector x[rows];
      for (std::size_t r = 0; r < rows; ++r) x[r] = hn::Set(d, a[r * stride + i]);
      for (std::size_t v = 0; v < vectors; ++v) {
        const FloatVector weight = decoded<bits, zeros, i>(words[v], zero[v]);
        for (std::size_t r = 0; r < rows; ++r) partial[r][v] = mul_add(x[r], weight, partial[r][v]);
      }
      add<i + 1>(words, a, stride);
    }
  }

  HWY_INLINE void run(const NBitsPanel& panel, std::size_t first_row, std::size_t first) {
    const FloatTag d;
    const StepTag words_tag;
    FloatVector sums[rows][vectors];
    for (auto& row : sums)
      for (FloatVector& sum : row) sum = hn::Zero(d);
    const std::uint32_t* at = panel.data + first;
    const float* a = panel.a + first_row * panel.a_stride;
    for (std::size_t block = 0; block < panel.blocks; ++block) {
      const std::uint32_t* const scales = at;
      at += panel_columns;
      if constexpr (zeros == NBitsZeros::given) {
        for (std::size_t v = 0; v < vectors; ++v)
          zero[v] = hn::BitCast(d, hn::LoadU(words_tag, signed_words(at + v * nbits_lanes)));
        at += panel_columns;
      }
      for (auto& row : partial)
        for (FloatVector& sum : row) sum = hn::Zero(d);
      for (std::size_t word = 0; word < panel.words; ++word, at += panel_columns, a += numbers) {
        StepVector words[vectors];
        for (std::size_t v = 0; v < vectors; ++v)
          words[v] = hn::LoadU(words_tag, signed_words(at + v * nbits_lanes));
        for (std::size_t ahead = 0; ahead < panel_columns; ahead += prefetched_words)
          hwy::Prefetch(at + words_ahead + ahead);
        add<0>(words, a, panel.a_stride);
      }
      for (std::size_t v = 0; v < vectors; ++v) {
        const FloatVector scale =
            hn::BitCast(d, hn::LoadU(words_tag, signed_words(scales + v * nbits_lanes)));
        for (std::size_t r = 0; r < rows; ++r) sums[r][v] = mul_add(scale, partial[r][v], sums[r][v]);
      }
    }
    for (std::size_t r = 0; r < rows; ++r) store(panel, first_row + r, first, sums[r]);
  }

 private:
  static const std::int32_t* signed_words(const std::uint32_t* words) {
    return reinterpret_cast<const std::int32_t*>(words);
  }

  static HWY_INLINE void store(const NBitsPanel& panel, std::size_t row, std::size_t first,
                               const FloatVector (&sums)[vectors]) {
    const FloatTag d;
    const FloatVector factor = hn::Set(d, panel.factors[row]);
    HWY_ALIGN float all[vectors * nbits_lanes];
    for (std::size_t v = 0; v < vectors; ++v) {
      const std::size_t column = first + v * nbits_lanes;
      const FloatVector bias = panel.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, panel.bias + column);
      hn::Store(mul_add(factor, sums[v], bias), d, all + v * nbits_lanes);
    }
    if (first < panel.columns)
      std::copy_n(all, std::min(vectors * nbits_lanes, panel.columns - first),
                  panel.y + row * panel.y_stride + first);
  }
};

template <int bits, NBitsZeros zeros>
void run_panel(const NBitsPanel& panel) {
  std::size_t row = 0;
  for (; row + 4 <= panel.rows; row += 4)
    for (std::size_t v = 0; v < panel_vectors; v += 2)
      NBitsSums<bits, zeros, 4, 2>().run(panel, row, v * nbits_lanes);
  for (; row + 2 <= panel.rows; row += 2)
    for (std::size_t v = 0; v < panel_vectors; v += 2)
      NBitsSums<bits, zeros, 2, 2>().run(panel, row, v * nbits_lanes);
  if (row < panel.rows) NBitsSums<bits, zeros, 1, panel_vectors>().run(panel, row, 0);
}

template <int bits>
void run_nbits(const NBitsPanel& panel, NBitsZeros zeros) {
  if (zeros == NBitsZeros::middle)
    run_panel<bits, NBitsZeros::middle>(panel);
  else
    run_panel<bits, NBitsZeros::given>(panel);
}

NBitsKernels make_nbits_kernels() { return {panel_columns, &run_nbits<4>, &run_nbits<8>}; }

}  // namespace HWY_NAMESPACE
}  // namespace driftscope::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "core/engines/strict/simd/dispatch.hpp"

namespace driftscope::fast {

HWY_EXPORT(make_nbits_kernels);

NBitsKernels nbits_kernels(const SimdTarget& target) {
  return simd_function(HWY_DISPATCH_TABLE(make_nbits_kernels), target.highway)();
}

}  // namespace driftscope::fast
#endif  // HWY_ONCE
