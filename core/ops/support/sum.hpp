// Sums of many terms, for each scalar: the one place that fixes the order of accumulation and knows
// the error of every order.
//   Sum<double>   the plain sum
//   Sum<float>    strict: one accumulator, in the order of the calls, starting from `start`
//   Sum<Bounded>  value and bound for any order: worst γₙ·Σ|terms|, likely λ·√n·u·Σ|terms|
//   Reduction<S>  along a contiguous axis: for float eight interleaved partial sums and a fixed
//                 tree ((0+4)+(2+6))+((1+5)+(3+7)), so that any SIMD width gives the same bits
// Clients: kernels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/ops/support/bounded.hpp"

namespace driftscope {

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
  void add(Bounded x);
  void add_product(Bounded a, Bounded b);
  /// `count` products of exact factors at once: their sum and the sum of their magnitudes.
  void add_exact_products(double value, double magnitude, std::int64_t count) {
    value_ += value;
    magnitude_ += magnitude;
    terms_ += count;
    products_ += count;
  }
  /// γ with one rounding per product and one per addition.
  [[nodiscard]] Bounded result() const;

 private:
  double value_ = 0.0;
  double magnitude_ = 0.0;         // Σ|terms|
  double inherited_worst_ = 0.0;   // errors that the terms already had
  double inherited_likely_ = 0.0;
  std::int64_t terms_ = 0;
  std::int64_t products_ = 0;
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
  return ((partial[0] + partial[4]) + (partial[2] + partial[6])) +
         ((partial[1] + partial[5]) + (partial[3] + partial[7]));
}

}  // namespace driftscope
