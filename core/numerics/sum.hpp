// Sums of many terms, for each scalar: the one place that fixes the order of accumulation and knows
// the error of every order.
//   Sum<double>   the plain sum
//   Sum<float>    strict: one accumulator, in the order of the calls, starting from `start`
//   Sum<Bounded>  value and bound for any order: worst γₙ·Σ|terms|, likely λ·√n·u·Σ|terms|
//   Reduction<S>  along a contiguous axis: for float eight interleaved partial sums and a fixed
//                 tree ((0+4)+(2+6))+((1+5)+(3+7)), so that any SIMD width gives the same bits
// Clients: kernels.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "core/numerics/bounded.hpp"
#include "core/numerics/rounding.hpp"

namespace driftscope {

/// The fixed tree over eight interleaved partial sums.
[[nodiscard]] constexpr float reduce_lanes(const std::array<float, 8>& partial) {
  return ((partial[0] + partial[4]) + (partial[2] + partial[6])) +
         ((partial[1] + partial[5]) + (partial[3] + partial[7]));
}

template <class S>
class Sum {
 public:
  explicit Sum(S start = S(0)) : sum_(start) {}
  void add(S x) { sum_ = sum_ + x; }
  void add_product(S a, S b) { sum_ = sum_ + a * b; }
  [[nodiscard]] S result() const { return sum_; }

 private:
  S sum_;
};

template <>
class Sum<Bounded> {
 public:
  Sum() = default;
  explicit Sum(Bounded start) { add(start); }

  void add(Bounded x) {
    const double magnitude = std::fabs(x.value);
    if (!(magnitude < std::numeric_limits<double>::infinity())) return add_special(x);
    lanes_[static_cast<std::size_t>(plain_ % 8)] += static_cast<float>(x.value);
    ++plain_;
    add_term(x.value, magnitude, x.worst, x.likely, x.systematic);
  }

  void add_product(Bounded a, Bounded b) {
    const double product = a.value * b.value;
    const double magnitude = std::fabs(product);
    if (!(magnitude < std::numeric_limits<double>::infinity())) return add_special_product(a, b);
    const double size_a = std::fabs(a.value);
    const double size_b = std::fabs(b.value);
    if (size_a > largest_float || size_b > largest_float) note_range(a, b);
    ++products_;
    add_term(product, magnitude, size_a * b.worst + (size_b + b.worst) * a.worst,
             size_a * b.likely + (size_b + b.likely) * a.likely,
             size_a * b.systematic + (size_b + b.systematic) * a.systematic);
  }

  /// `count` products of exact factors at once: their sum and the sum of their magnitudes. Infinity
  /// and NaN are in the sum already. The two float32 orders are then not traced.
  void add_exact_products(double value, double magnitude, std::int64_t count) {
    value_ += value;
    magnitude_ += magnitude;
    terms_ += count;
    products_ += count;
    traced_ = traced_ && count == 0;
  }

  /// One more rounding of every term, for operators that may scale before or after.
  void round_once_more() { ++further_; }

  /// γ with one rounding per addition and one for the products, whatever the order and whether fused
  /// or not. Adding an exact 0 rounds nothing and is not counted.
  [[nodiscard]] Bounded result() const;

 private:
  void add_term(double term, double magnitude, double worst, double likely, double systematic) {
    value_ += term;
    magnitude_ += magnitude;
    inherited_worst_ += worst;
    inherited_likely_ += likely;
    inherited_systematic_ += systematic;
    terms_ += magnitude + worst == 0.0 ? 0 : 1;
    sequential_ += static_cast<float>(term);
  }
  static constexpr double largest_float = std::numeric_limits<float>::max();
  void add_special(Bounded x);  // infinity and NaN
  // A factor that is infinite in float32: the product may be so or NaN, whatever it is here.
  static void note_range(const Bounded& a, const Bounded& b);
  void add_special_product(Bounded a, Bounded b);
  [[nodiscard]] double likely_rounding(const ErrorModel& model, double scale, std::int64_t roundings) const;

  double value_ = 0.0;
  double magnitude_ = 0.0;        // Σ|terms|
  double inherited_worst_ = 0.0;  // errors that the terms already had
  double inherited_likely_ = 0.0;
  double inherited_systematic_ = 0.0;
  std::int64_t terms_ = 0;
  std::int64_t products_ = 0;
  std::int64_t plain_ = 0;
  std::int64_t further_ = 0;  // roundings beyond those of the sum itself
  bool uncertain_ = false;    // an infinite or NaN term that is not certain
  // The same sum in float32, in two usual orders: if roundings are systematically equal (many equal
  // terms), the law of √n does not hold and these show it.
  bool traced_ = true;
  float sequential_ = 0.0f;
  std::array<float, 8> lanes_{};
};

/// The result of Sum<Bounded> for products of exact factors and one initial value, for many sums in turn:
/// values that depend only on the number of terms are recomputed when it changes. Uses the model of the
/// scope in which it is created.
class ExactSumBounds {
 public:
  explicit ExactSumBounds(std::int64_t further = 0) : model_(current_error_model()), further_(further) {}

  /// As Sum(start), round_once_more() `further` times, add_exact_products(value, magnitude, count).
  [[nodiscard]] Bounded result(const Bounded& start, double value, double magnitude, std::int64_t count) {
    // The same operations as in Sum<Bounded>::result, for a start without error and a sum within the range.
    const double total = (0.0 + start.value) + value;
    const double scale = std::fabs(start.value) + magnitude;
    const std::int64_t terms = count + (start.value == 0.0 ? 0 : 1);
    constexpr std::int64_t many = 1 << 20;  // for more, γ may be undefined
    const bool usual = start.worst == 0.0 && start.likely == 0.0 && start.systematic == 0.0 && count > 1 &&
                       count < many && std::isfinite(total) && scale <= model_.largest;
    if (!usual) return in_general(start, value, magnitude, count);
    if (terms != terms_ || count != products_) prepare(terms, count);
    const double extra = tiny_ + reference_slack * scale;
    const double worst = gamma_ * scale + extra;
    return {total, worst, std::min(worst, likely_ * scale + extra), rounding_error(model_, std::fabs(total))};
  }

 private:
  void prepare(std::int64_t terms, std::int64_t count);
  [[nodiscard]] Bounded in_general(const Bounded& start, double value, double magnitude,
                                   std::int64_t count) const;

  const ErrorModel& model_;
  std::int64_t further_;
  std::int64_t terms_ = -1;  // number of terms that the following values belong to
  std::int64_t products_ = -1;
  double gamma_ = 0.0;
  double likely_ = 0.0;  // λ·√n·u
  double tiny_ = 0.0;
};

/// Sum of a contiguous range.
template <class S>
[[nodiscard]] S reduce_sum(std::span<const S> values) {
  Sum<S> sum;
  for (const S& x : values) sum.add(x);
  return sum.result();
}

template <>
[[nodiscard]] inline float reduce_sum<float>(std::span<const float> values) {
  std::array<float, 8> partial{};
  for (std::size_t i = 0; i < values.size(); ++i) partial[i % 8] = partial[i % 8] + values[i];
  return reduce_lanes(partial);
}

}  // namespace driftscope
