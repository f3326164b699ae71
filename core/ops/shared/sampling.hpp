// Values between the elements of a plane, at coordinates that were computed in float32.
// Clients: GridSample, RoiAlign, DeformConv. Coordinates are in elements, in the order of the axes.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/base/float_bits.hpp"
#include "core/numerics/math.hpp"
#include "core/numerics/sum.hpp"

namespace driftscope {

inline constexpr std::size_t max_sampled_axes = 4;

/// Coordinates of one point, and the possible error of each in float32.
struct SamplePoint {
  std::size_t axes = 0;
  std::array<double, max_sampled_axes> at{};
  std::array<double, max_sampled_axes> error{};
};

/// The elements of a tensor as the scalar T: double also where they are Bounded.
template <class T, class S>
[[nodiscard]] T element_as(const S& x) {
  if constexpr (std::is_same_v<T, S>)
    return x;
  else
    return static_cast<T>(math::value(x));
}

/// The result of `sample` at the point. sample.template operator()<T>(point) computes it in T, which
/// is S, or double for the extreme coordinates: their largest distance from the
/// value is added to a bound, jumps included.
template <class S, class Sample>
[[nodiscard]] S sample_at(const SamplePoint& point, const Sample& sample) {
  S result = sample.template operator()<S>(point);
  if constexpr (std::is_same_v<S, Bounded>) {
    double largest = 0.0;
    for (std::size_t corner = 0; corner < std::size_t{1} << point.axes; ++corner) {
      SamplePoint moved = point;
      bool same = true;
      for (std::size_t axis = 0; axis < point.axes; ++axis) {
        moved.at[axis] += (corner >> axis & 1u) != 0 ? point.error[axis] : -point.error[axis];
        same = same && point.error[axis] == 0.0;
      }
      if (same) return result;
      const double value = sample.template operator()<double>(moved);
      if (value == result.value || (std::isnan(value) && std::isnan(result.value))) continue;
      largest = std::fmax(largest, std::fabs(value - result.value));
      if (!std::isfinite(value)) largest = std::numeric_limits<double>::infinity();
    }
    result.worst += largest;
    result.likely += largest;
    result.systematic += largest;
  }
  return result;
}

/// A sum of weighted elements; a weight is the product of up to `axes` rounded numbers.
template <class T>
class WeightedSum {
 public:
  explicit WeightedSum(std::size_t axes) {
    if constexpr (std::is_same_v<T, Bounded>)
      for (std::size_t i = 0; i < 3 * axes; ++i) sum_.round_once_more();
  }
  void add(double weight, const T& element) {
    if (weight == 0.0) return;
    if constexpr (std::is_same_v<T, float>)
      sum_.add(static_cast<float>(weight) * element);
    else
      sum_.add_product(T(weight), element);
  }
  [[nodiscard]] T result() const { return sum_.result(); }

 private:
  Sum<T> sum_;
};

/// Keys' cubic weights of the four neighbours of a point `ratio` behind the second.
[[nodiscard]] inline std::array<double, 4> cubic_weights(double ratio, double a) {
  const auto far = [a](double x) { return ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a; };
  const auto near = [a](double x) { return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0; };
  return {far(ratio + 1.0), near(ratio), near(1.0 - ratio), far(2.0 - ratio)};
}

}  // namespace driftscope
