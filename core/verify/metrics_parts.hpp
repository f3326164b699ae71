// Differences of two tensors, accumulated part by part: how to treat each dtype, and the sums over
// a range. Parts are added in order, so that no figure depends on the number of threads.
// Clients: metrics.cpp, verify_tensor.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/base/float_bits.hpp"
#include "core/model/element.hpp"
#include "core/verify/verify.hpp"

namespace driftscope::metrics_parts {

/// Elements of a part.
inline constexpr std::size_t part_elements = std::size_t{1} << 16;

// One element of a dtype: its value, whether two results are the same, how many numbers lie between them,
// and for floating ones the number nearest to a real.
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
  static float nearest(double x) { return static_cast<float>(x); }
  static bool same(float a, float b) { return same_result(a, b); }
  static double steps(float a, float b) { return static_cast<double>(ulp_distance(a, b)); }
};

struct Float64 {
  using Stored = double;
  static double value(double x) { return x; }
  static double nearest(double x) { return x; }
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

template <class Element>
struct Small {
  using Stored = std::uint16_t;
  static double value(std::uint16_t x) { return Element::to_double(x); }
  static std::uint16_t nearest(double x) { return Element::nearest(x); }
  static bool same(std::uint16_t a, std::uint16_t b) {
    return a == b || (std::isnan(value(a)) && std::isnan(value(b)));
  }
  static double steps(std::uint16_t a, std::uint16_t b) {
    return std::fabs(ordered<std::uint16_t, 16>(a) - ordered<std::uint16_t, 16>(b));
  }
};

template <class E>
using FloatingKind = std::conditional_t<E::dtype == DType::float32, Float32,
                                        std::conditional_t<E::dtype == DType::float64, Float64, Small<E>>>;

/// Calls body.template operator()<Kind>() for a floating dtype; false for others.
template <class Body>
bool with_floating_kind(DType dtype, const Body& body) {
  return visit_floating(dtype, [&]<class E>() { body.template operator()<FloatingKind<E>>(); });
}

struct Part {
  std::int64_t different = 0;
  std::int64_t nan = 0;
  std::int64_t inf = 0;
  std::int64_t finite = 0;
  std::int64_t nonzero = 0;  // finite elements of want that define a relative error
  double max_abs = 0.0;
  double max_rel = 0.0;
  double max_ulp = 0.0;
  double absolute = 0.0;
  double relative = 0.0;
  double dot = 0.0;
  double got = 0.0;
  double want = 0.0;
  double noise = 0.0;

  void add(const Part& other) {
    different += other.different;
    nan += other.nan;
    inf += other.inf;
    finite += other.finite;
    nonzero += other.nonzero;
    max_abs = std::max(max_abs, other.max_abs);
    max_rel = std::max(max_rel, other.max_rel);
    max_ulp = std::max(max_ulp, other.max_ulp);
    absolute += other.absolute;
    relative += other.relative;
    dot += other.dot;
    got += other.got;
    want += other.want;
    noise += other.noise;
  }

  /// Adds the elements of two ranges of one length.
  template <class Kind>
  void measure(std::span<const typename Kind::Stored> g, std::span<const typename Kind::Stored> w) {
    constexpr std::size_t block = 512;  // an unusual element slows down only its block
    for (std::size_t i = 0; i < g.size(); i += block) {
      const std::size_t count = std::min(block, g.size() - i);
      measure_block<Kind>(g.subspan(i, count), w.subspan(i, count));
    }
  }

 private:
  template <class Kind>
  static bool all_finite(std::span<const typename Kind::Stored> values) {
    bool result = true;
    for (const auto x : values) result &= std::isfinite(Kind::value(x));
    return result;
  }

  template <class Kind>
  void measure_block(std::span<const typename Kind::Stored> g, std::span<const typename Kind::Stored> w) {
    if (!all_finite<Kind>(g) || !all_finite<Kind>(w)) return measure_any<Kind>(g, w);
    finite += static_cast<std::int64_t>(g.size());
    if (std::memcmp(g.data(), w.data(), g.size_bytes()) == 0)
      measure_equal<Kind>(g);
    else
      measure_finite<Kind>(g, w);
  }

  // Several accumulators: a single one would wait for its own result at each element.
  template <class Kind>
  void measure_equal(std::span<const typename Kind::Stored> values) {
    constexpr std::size_t lanes = 8;
    std::array<double, lanes> sums{};
    std::size_t i = 0;
    for (; i + lanes <= values.size(); i += lanes)
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double x = Kind::value(values[i + lane]);
        sums[lane] += x * x;
        nonzero += x != 0.0 ? 1 : 0;
      }
    double squares = 0.0;
    for (; i < values.size(); ++i) {
      squares += Kind::value(values[i]) * Kind::value(values[i]);
      nonzero += Kind::value(values[i]) != 0.0 ? 1 : 0;
    }
    for (const double sum : sums) squares += sum;
    dot += squares;
    got += squares;
    want += squares;
  }

  // Without branches: which elements differ is unpredictable.
  template <class Kind>
  void measure_finite(std::span<const typename Kind::Stored> got_values,
                      std::span<const typename Kind::Stored> want_values) {
    Part sums = *this;  // in registers
    for (std::size_t i = 0; i < got_values.size(); ++i) {
      const double g = Kind::value(got_values[i]);
      const double w = Kind::value(want_values[i]);
      const double error = std::fabs(g - w);
      const double relative_error = error / (w != 0.0 ? std::fabs(w) : INFINITY);
      sums.dot += g * w;
      sums.got += g * g;
      sums.want += w * w;
      sums.absolute += error;
      sums.relative += relative_error;
      sums.nonzero += w != 0.0 ? 1 : 0;
      sums.noise += error * error;
      sums.different += Kind::same(got_values[i], want_values[i]) ? 0 : 1;
      sums.max_abs = std::max(sums.max_abs, error);
      sums.max_rel = std::max(sums.max_rel, relative_error);
      sums.max_ulp = std::max(sums.max_ulp, Kind::steps(got_values[i], want_values[i]));
    }
    *this = sums;
  }

  template <class Kind>
  void measure_any(std::span<const typename Kind::Stored> got_values,
                   std::span<const typename Kind::Stored> want_values) {
    for (std::size_t i = 0; i < got_values.size(); ++i) {
      const double g = Kind::value(got_values[i]);
      const double w = Kind::value(want_values[i]);
      if (std::isfinite(g) && std::isfinite(w)) {
        ++finite;
        measure_finite<Kind>(got_values.subspan(i, 1), want_values.subspan(i, 1));
        continue;
      }
      if (std::isnan(g)) ++nan;
      if (std::isinf(g)) ++inf;
      if (Kind::same(got_values[i], want_values[i])) continue;
      ++different;
      max_abs = max_rel = INFINITY;
      max_ulp = std::isnan(g) || std::isnan(w)
                    ? INFINITY
                    : std::max(max_ulp, Kind::steps(got_values[i], want_values[i]));
    }
  }
};

/// The figures of all parts together.
[[nodiscard]] Metrics metrics_of(const Part& total, std::int64_t elements);

}  // namespace driftscope::metrics_parts
