// Highway 1.0 has no operation for this instruction, hence its own.
#include "core/engines/fast/simd/int8_product.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>
#endif

namespace driftscope::fast {

#if defined(__x86_64__)
namespace {

#define DRIFTSCOPE_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

constexpr std::size_t vectors = 4;
constexpr std::size_t lanes = 16;
constexpr std::size_t panel_columns = vectors * lanes;
constexpr std::size_t most_rows = 6;

/// Four neighbours of a row, in every lane.
DRIFTSCOPE_VNNI inline __m512i four_of(const std::uint8_t* a) {
  std::int32_t four;
  std::memcpy(&four, a, sizeof(four));
  return _mm512_set1_epi32(four);
}

template <std::size_t rows>
DRIFTSCOPE_VNNI void run_rows(const Int8Panel& panel, std::size_t first) {
  __m512i sums[rows][vectors];
  for (std::size_t v = 0; v < vectors; ++v) {
    const __m512i column = _mm512_loadu_si512(panel.column_terms + v * lanes);
    const __m512i zeros = _mm512_loadu_si512(panel.zeros + v * lanes);
    for (std::size_t r = 0; r < rows; ++r)
      sums[r][v] =
          _mm512_add_epi32(column, _mm512_mullo_epi32(zeros, _mm512_set1_epi32(panel.row_terms[first + r])));
  }
  const std::uint8_t* a = panel.a + first * panel.a_stride;
  const std::int8_t* b = panel.b;
  for (std::size_t group = 0; group < panel.groups; ++group, a += 4, b += 4 * panel_columns) {
    __m512i weights[vectors];
    for (std::size_t v = 0; v < vectors; ++v) weights[v] = _mm512_loadu_si512(b + v * 4 * lanes);
    for (std::size_t r = 0; r < rows; ++r) {
      const __m512i x = four_of(a + r * panel.a_stride);
      for (std::size_t v = 0; v < vectors; ++v) sums[r][v] = _mm512_dpbusd_epi32(sums[r][v], x, weights[v]);
    }
  }
  for (std::size_t v = 0; v * lanes < panel.columns; ++v) {
    const std::size_t count = std::min(lanes, panel.columns - v * lanes);
    const auto stored = static_cast<__mmask16>((1u << count) - 1u);
    for (std::size_t r = 0; r < rows; ++r)
      _mm512_mask_storeu_epi32(panel.y + (first + r) * panel.y_stride + v * lanes, stored, sums[r][v]);
  }
}

template <std::size_t... counts>
constexpr std::array<void (*)(const Int8Panel&, std::size_t), most_rows + 1> by_count(
    std::index_sequence<counts...>) {
  return {nullptr, &run_rows<counts + 1>...};
}

void run_panel(const Int8Panel& panel) {
  constexpr auto kernels = by_count(std::make_index_sequence<most_rows>());
  for (std::size_t row = 0; row < panel.rows; row += most_rows)
    kernels[std::min(most_rows, panel.rows - row)](panel, row);
}

DRIFTSCOPE_VNNI std::uint32_t copy_row(const std::uint8_t* from, std::uint8_t flip, std::size_t depth,
                                       std::uint8_t* to) {
  constexpr std::size_t bytes = 64;
  const __m512i turned = _mm512_set1_epi8(static_cast<char>(flip));
  __m512i sum = _mm512_setzero_si512();
  for (std::size_t k = 0; k < depth; k += bytes) {
    const std::size_t left = depth - k;
    const auto mask =
        static_cast<__mmask64>(left >= bytes ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1);
    const __m512i row = _mm512_maskz_loadu_epi8(mask, from + k);
    const __m512i x = _mm512_maskz_mov_epi8(mask, _mm512_xor_si512(row, turned));
    _mm512_mask_storeu_epi8(to + k, mask, x);
    sum = _mm512_dpbusd_epi32(sum, x, _mm512_set1_epi8(1));
  }
  std::array<std::uint32_t, lanes> parts;
  _mm512_storeu_si512(parts.data(), sum);
  return std::accumulate(parts.begin(), parts.end(), std::uint32_t{0});
}

}  // namespace

Int8Kernels int8_kernels(const SimdTarget& target) {
  constexpr int bits = 512;
  if (target.bits != bits || __builtin_cpu_supports("avx512vnni") == 0) return {};
  return {panel_columns, &run_panel, &copy_row};
}

#else

Int8Kernels int8_kernels(const SimdTarget& /*target*/) { return {}; }

#endif

}  // namespace driftscope::fast
