#include "core/numerics/simd/exact_product.hpp"

#include <cmath>

#include "core/numerics/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/numerics/simd/exact_product.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace driftscope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int rows = static_cast<int>(exact_rows);

#if HWY_HAVE_FLOAT64

/// V vectors of columns of 4 rows. Wide factors are never fused: a product and a sum are two roundings.
template <int V, bool with_magnitudes, Factors factors>
HWY_INLINE void tile(const double* HWY_RESTRICT a, const double* HWY_RESTRICT b, std::int64_t depth,
                     double* HWY_RESTRICT values, double* HWY_RESTRICT magnitudes) {
  const hn::ScalableTag<double> d;
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(d));
  hn::Vec<decltype(d)> sum[rows][V];
  hn::Vec<decltype(d)> size[rows][V];
  HWY_UNROLL(4)
  for (int r = 0; r < rows; ++r) {
    HWY_UNROLL(2)
    for (int v = 0; v < V; ++v) {
      sum[r][v] = hn::LoadU(d, values + r * exact_columns + v * lanes);
      if constexpr (with_magnitudes) size[r][v] = hn::LoadU(d, magnitudes + r * exact_columns + v * lanes);
    }
  }
  for (std::int64_t k = 0; k < depth; ++k, a += rows, b += exact_columns) {
    hn::Vec<decltype(d)> right[V];
    hn::Vec<decltype(d)> right_size[V];
    HWY_UNROLL(2)
    for (int v = 0; v < V; ++v) {
      right[v] = hn::LoadU(d, b + v * lanes);
      right_size[v] = hn::Abs(right[v]);
    }
    HWY_UNROLL(4)
    for (int r = 0; r < rows; ++r) {
      const auto left = hn::Set(d, a[r]);
      const auto left_size = hn::Abs(left);
      HWY_UNROLL(2)
      for (int v = 0; v < V; ++v) {
        if constexpr (factors == Factors::single) {
          sum[r][v] = hn::MulAdd(left, right[v], sum[r][v]);
          if constexpr (with_magnitudes) size[r][v] = hn::MulAdd(left_size, right_size[v], size[r][v]);
        } else {
          const auto product = hn::Mul(left, right[v]);
          sum[r][v] = hn::Add(sum[r][v], product);
          if constexpr (with_magnitudes) size[r][v] = hn::Add(size[r][v], hn::Abs(product));
        }
      }
    }
  }
  HWY_UNROLL(4)
  for (int r = 0; r < rows; ++r) {
    HWY_UNROLL(2)
    for (int v = 0; v < V; ++v) {
      hn::StoreU(sum[r][v], d, values + r * exact_columns + v * lanes);
      if constexpr (with_magnitudes) hn::StoreU(size[r][v], d, magnitudes + r * exact_columns + v * lanes);
    }
  }
}

template <Factors factors>
void accumulate_as(const double* a, const double* b, std::int64_t depth, std::int64_t columns, double* values,
                   double* magnitudes) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(hn::ScalableTag<double>()));
  // 16 accumulators of 32 registers, or 8 of 16.
  constexpr int vectors = HWY_TARGET == HWY_AVX3 ? 2 : 1;
  constexpr std::int64_t step = vectors * lanes;
  for (std::int64_t j = 0; j < columns; j += step) {
    if (magnitudes != nullptr)
      tile<vectors, true, factors>(a, b + j, depth, values + j, magnitudes + j);
    else
      tile<vectors, false, factors>(a, b + j, depth, values + j, nullptr);
  }
}

void accumulate(Factors factors, const double* a, const double* b, std::int64_t depth, std::int64_t columns,
                double* values, double* magnitudes) {
  if (factors == Factors::single)
    accumulate_as<Factors::single>(a, b, depth, columns, values, magnitudes);
  else
    accumulate_as<Factors::wide>(a, b, depth, columns, values, magnitudes);
}

#else  // this Highway has no double on wasm: loops that the compiler vectorises

template <bool with_magnitudes>
void tile(const double* a, const double* b, std::int64_t depth, double* values, double* magnitudes) {
  constexpr int width = 4;
  double sum[rows][width];
  double size[rows][width] = {};
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < width; ++j) {
      sum[r][j] = values[r * exact_columns + j];
      if constexpr (with_magnitudes) size[r][j] = magnitudes[r * exact_columns + j];
    }
  for (std::int64_t k = 0; k < depth; ++k, a += rows, b += exact_columns)
    for (int r = 0; r < rows; ++r)
      for (int j = 0; j < width; ++j) {
        const double product = a[r] * b[j];
        sum[r][j] += product;
        if constexpr (with_magnitudes) size[r][j] += std::fabs(product);
      }
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < width; ++j) {
      values[r * exact_columns + j] = sum[r][j];
      if constexpr (with_magnitudes) magnitudes[r * exact_columns + j] = size[r][j];
    }
}

void accumulate(Factors /*factors*/, const double* a, const double* b, std::int64_t depth,
                std::int64_t columns, double* values, double* magnitudes) {
  for (std::int64_t j = 0; j < columns; j += 4) {
    if (magnitudes != nullptr)
      tile<true>(a, b + j, depth, values + j, magnitudes + j);
    else
      tile<false>(a, b + j, depth, values + j, nullptr);
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace driftscope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace driftscope {

HWY_EXPORT(accumulate);

void accumulate_exact(Factors factors, const double* a, const double* b, std::int64_t depth,
                      std::int64_t columns, double* values, double* magnitudes) {
  HWY_DYNAMIC_DISPATCH(accumulate)(factors, a, b, depth, columns, values, magnitudes);
}

}  // namespace driftscope
#endif  // HWY_ONCE
