#include "core/verify/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/float_bits.hpp"
#include "core/base/half.hpp"

namespace driftscope {
namespace {

// One element of a dtype: its value, whether two results are the same, how many numbers lie between.
template <class T>
struct Plain {
  using Stored = T;
  static double value(T x) { return static_cast<double>(x); }
  static bool same(T a, T b) { return a == b; }
  static double steps(T a, T b) {
    return static_cast<double>(a > b ? static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)
                                     : static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a));
  }
};

// Floats as integers in the order of the reals, both zeros 0 (see float_bits.hpp).
template <class Bits, int width>
double ordered(Bits bits) {
  constexpr Bits sign = Bits{1} << (width - 1);
  const auto magnitude = static_cast<double>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

struct Float32 {
  using Stored = float;
  static double value(float x) { return static_cast<double>(x); }
  static bool same(float a, float b) { return same_result(a, b); }
  static double steps(float a, float b) { return static_cast<double>(ulp_distance(a, b)); }
};

struct Float64 {
  using Stored = double;
  static double value(double x) { return x; }
  static bool same(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (a != a && b != b);
  }
  static double steps(double a, double b) {
    const auto x = std::bit_cast<std::uint64_t>(a);
    const auto y = std::bit_cast<std::uint64_t>(b);
    constexpr std::uint64_t magnitude = ~std::uint64_t{0} >> 1;
    if ((x >> 63) == (y >> 63)) return static_cast<double>(x > y ? x - y : y - x);
    return static_cast<double>(x & magnitude) + static_cast<double>(y & magnitude);
  }
};

template <int fraction, int exponent>
struct Small {
  using Stored = std::uint16_t;
  static double value(std::uint16_t x) { return widen({fraction, exponent}, x); }
  static bool same(std::uint16_t a, std::uint16_t b) {
    return a == b || (std::isnan(value(a)) && std::isnan(value(b)));
  }
  static double steps(std::uint16_t a, std::uint16_t b) {
    return std::fabs(ordered<std::uint16_t, 16>(a) - ordered<std::uint16_t, 16>(b));
  }
};

struct Totals {
  double absolute = 0.0;
  double dot = 0.0;
  double got = 0.0;
  double want = 0.0;
  double noise = 0.0;
};

template <class Kind>
Metrics measure_as(const Tensor& got_tensor, const Tensor& want_tensor) {
  const auto got = got_tensor.values<typename Kind::Stored>();
  const auto want = want_tensor.values<typename Kind::Stored>();
  Metrics metrics;
  metrics.elements = got_tensor.elements();
  Totals total;
  std::int64_t finite = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double g = Kind::value(got[i]);
    const double w = Kind::value(want[i]);
    if (std::isnan(g)) ++metrics.nan;
    if (std::isinf(g)) ++metrics.inf;
    const bool same = Kind::same(got[i], want[i]);
    if (!same) ++metrics.different_elements;
    if (!std::isfinite(g) || !std::isfinite(w)) {
      if (same) continue;
      metrics.max_abs = metrics.max_rel = INFINITY;
      metrics.max_ulp = std::isnan(g) || std::isnan(w)
                            ? INFINITY
                            : std::fmax(metrics.max_ulp, Kind::steps(got[i], want[i]));
      continue;
    }
    ++finite;
    const double error = std::fabs(g - w);
    metrics.max_abs = std::fmax(metrics.max_abs, error);
    if (w != 0.0) metrics.max_rel = std::fmax(metrics.max_rel, error / std::fabs(w));
    if (!same) metrics.max_ulp = std::fmax(metrics.max_ulp, Kind::steps(got[i], want[i]));
    total.absolute += error;
    total.dot += g * w;
    total.got += g * g;
    total.want += w * w;
    total.noise += error * error;
  }
  if (finite > 0) metrics.mean_abs = total.absolute / static_cast<double>(finite);
  if (total.got > 0.0 && total.want > 0.0) {
    const double cosine = total.dot / (std::sqrt(total.got) * std::sqrt(total.want));
    metrics.cosine = std::clamp(cosine, -1.0, 1.0);
  } else {
    metrics.cosine = total.got == total.want ? 1.0 : 0.0;
  }
  metrics.sqnr_db =
      total.noise > 0.0 ? 10.0 * std::log10(total.want / total.noise) : INFINITY;
  if (metrics.max_abs == INFINITY) metrics.sqnr_db = -INFINITY;
  return metrics;
}

// Types of less than a byte: equal or not is all that is asked of them.
Metrics measure_packed(const Tensor& got, const Tensor& want) {
  Metrics metrics;
  metrics.elements = got.elements();
  metrics.sqnr_db = INFINITY;
  for (std::int64_t i = 0; i < got.elements(); ++i) {
    const auto at = static_cast<std::size_t>(i / 2);
    const auto shift = static_cast<unsigned>(i % 2 * 4);
    const auto a = static_cast<int>(std::to_integer<unsigned>(got.bytes()[at]) >> shift & 15u);
    const auto b = static_cast<int>(std::to_integer<unsigned>(want.bytes()[at]) >> shift & 15u);
    if (a == b) continue;
    ++metrics.different_elements;
    metrics.max_abs = metrics.max_ulp = std::fmax(metrics.max_abs, std::abs(a - b));
    metrics.sqnr_db = 0.0;
  }
  return metrics;
}

}  // namespace

Result<Metrics> measure(const Tensor& got, const Tensor& want) {
  if (got.dtype() != want.dtype())
    return bad_input(fmt::format("expected {}, got {}", dtype_name(want.dtype()),
                                 dtype_name(got.dtype())));
  if (got.shape() != want.shape())
    return bad_input(fmt::format("expected shape {}, got {}", shape_text(want.shape()),
                                 shape_text(got.shape())));
  switch (got.dtype()) {
    case DType::float32: return measure_as<Float32>(got, want);
    case DType::float64: return measure_as<Float64>(got, want);
    case DType::float16: return measure_as<Small<10, 5>>(got, want);
    case DType::bfloat16: return measure_as<Small<7, 8>>(got, want);
    case DType::boolean:
    case DType::uint8: return measure_as<Plain<std::uint8_t>>(got, want);
    case DType::int8: return measure_as<Plain<std::int8_t>>(got, want);
    case DType::uint16: return measure_as<Plain<std::uint16_t>>(got, want);
    case DType::int16: return measure_as<Plain<std::int16_t>>(got, want);
    case DType::uint32: return measure_as<Plain<std::uint32_t>>(got, want);
    case DType::int32: return measure_as<Plain<std::int32_t>>(got, want);
    case DType::uint64: return measure_as<Plain<std::uint64_t>>(got, want);
    case DType::int64: return measure_as<Plain<std::int64_t>>(got, want);
    case DType::uint4:
    case DType::int4: return measure_packed(got, want);
    default:
      return unsupported(fmt::format("tensors of type {} are not compared", dtype_name(got.dtype())));
  }
}

double kl_divergence(const Tensor& left, const Tensor& right) {
  if (left.dtype() != DType::float32 || right.dtype() != DType::float32 ||
      left.shape() != right.shape() || left.elements() == 0 || left.rank() == 0)
    return 0.0;
  constexpr double floor = 1e-12;
  constexpr double sum_tolerance = 1e-2;
  const auto size = static_cast<std::size_t>(left.shape().back());
  const auto p = left.values<float>();
  const auto q = right.values<float>();
  const auto row_sum = [&](std::span<const float> values, std::size_t first) {
    double sum = 0.0;
    for (std::size_t i = first; i < first + size; ++i) {
      if (!(values[i] >= 0.0f)) return 0.0;
      sum += std::fmax(static_cast<double>(values[i]), floor);
    }
    return sum;
  };
  double worst = 0.0;
  for (std::size_t first = 0; first < p.size(); first += size) {
    const double p_sum = row_sum(p, first);
    const double q_sum = row_sum(q, first);
    if (std::fabs(p_sum - 1.0) > sum_tolerance || std::fabs(q_sum - 1.0) > sum_tolerance) return 0.0;
    double divergence = 0.0;
    for (std::size_t i = first; i < first + size; ++i) {
      const double a = std::fmax(static_cast<double>(p[i]), floor) / p_sum;
      const double b = std::fmax(static_cast<double>(q[i]), floor) / q_sum;
      divergence += a * std::log(a / b);
    }
    worst = std::fmax(worst, divergence);
  }
  return worst;
}

}  // namespace driftscope
