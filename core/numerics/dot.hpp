// Several dot products at once, for each scalar: a row of sums to which whole vectors of products are
// added. The one inner loop of Conv, Gemm and MatMul.
//   PlainSums<float>   strict: each sum grows by one product at a time, in the order of the calls
//   PlainSums<double>  the value; PlainSums<uint64_t> integers, modulo 2⁶⁴
//   ExactSums          Bounded with exact factors (the usual case): plain double loops
//   BoundedSums        Bounded with factors that have errors
// Clients: the kernels of these operators. Sum<Bounded> in sum.hpp owns the error formula.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "core/numerics/sum.hpp"

namespace driftscope {

template <class T>
class PlainSums {
 public:
  using Scalar = T;
  using Element = T;

  explicit PlainSums(std::int64_t size) : sums_(static_cast<std::size_t>(size)) {}

  /// All sums empty.
  void clear() { std::fill(sums_.begin(), sums_.end(), T(0)); }
  /// The initial value of sum i.
  void start(std::int64_t i, T first) { sums_[static_cast<std::size_t>(i)] = first; }
  /// sum[i] += w · x[(i − begin)·step] for i in [begin, end).
  void add_products(std::int64_t begin, std::int64_t end, T w, const T* x, std::int64_t step) {
    T* sums = sums_.data() + begin;
    const std::int64_t count = end - begin;
    if (step == 1) {
      for (std::int64_t i = 0; i < count; ++i) sums[i] = sums[i] + w * x[i];
    } else {
      for (std::int64_t i = 0; i < count; ++i) sums[i] = sums[i] + w * x[i * step];
    }
  }
  /// `products`: how many were added to sum i.
  [[nodiscard]] T result(std::int64_t i, std::int64_t /*products*/) const {
    return sums_[static_cast<std::size_t>(i)];
  }

 private:
  std::vector<T> sums_;
};

class ExactSums {
 public:
  using Scalar = Bounded;
  using Element = double;

  explicit ExactSums(std::int64_t size)
      : starts_(static_cast<std::size_t>(size)),
        values_(static_cast<std::size_t>(size)),
        magnitudes_(static_cast<std::size_t>(size)) {}

  void clear() {
    std::fill(starts_.begin(), starts_.end(), Sum<Bounded>());
    std::fill(values_.begin(), values_.end(), 0.0);
    std::fill(magnitudes_.begin(), magnitudes_.end(), 0.0);
  }
  void start(std::int64_t i, Bounded first) { starts_[static_cast<std::size_t>(i)].add(first); }
  void round_once_more(std::int64_t i) { starts_[static_cast<std::size_t>(i)].round_once_more(); }
  void add_products(std::int64_t begin, std::int64_t end, double w, const double* x, std::int64_t step) {
    double* values = values_.data() + begin;
    double* magnitudes = magnitudes_.data() + begin;
    const std::int64_t count = end - begin;
    // Infinite terms are in the value; of the finite ones Sum<Bounded> wants to know whether they overflow.
    const auto add = [&](std::int64_t i, double product) {
      const double size = std::fabs(product);
      values[i] += product;
      magnitudes[i] += size < std::numeric_limits<double>::infinity() ? size : 0.0;
    };
    if (step == 1) {
      for (std::int64_t i = 0; i < count; ++i) add(i, w * x[i]);
    } else {
      for (std::int64_t i = 0; i < count; ++i) add(i, w * x[i * step]);
    }
  }
  [[nodiscard]] Bounded result(std::int64_t i, std::int64_t products) const {
    const auto at = static_cast<std::size_t>(i);
    Sum<Bounded> sum = starts_[at];
    sum.add_exact_products(values_[at], magnitudes_[at], products);
    return sum.result();
  }

 private:
  std::vector<Sum<Bounded>> starts_;
  std::vector<double> values_;
  std::vector<double> magnitudes_;
};

class BoundedSums {
 public:
  using Scalar = Bounded;
  using Element = Bounded;

  explicit BoundedSums(std::int64_t size) : sums_(static_cast<std::size_t>(size)) {}

  void clear() { std::fill(sums_.begin(), sums_.end(), Sum<Bounded>()); }
  void start(std::int64_t i, Bounded first) { sums_[static_cast<std::size_t>(i)].add(first); }
  void round_once_more(std::int64_t i) { sums_[static_cast<std::size_t>(i)].round_once_more(); }
  void add_products(std::int64_t begin, std::int64_t end, const Bounded& w, const Bounded* x,
                    std::int64_t step) {
    for (std::int64_t i = begin; i < end; ++i)
      sums_[static_cast<std::size_t>(i)].add_product(w, x[(i - begin) * step]);
  }
  [[nodiscard]] Bounded result(std::int64_t i, std::int64_t /*products*/) const {
    return sums_[static_cast<std::size_t>(i)].result();
  }

 private:
  std::vector<Sum<Bounded>> sums_;
};

/// Calls body.template operator()<Sums>(a, b) with the kind of sums for these factors, and the
/// factors as that kind's elements.
template <class S, class Body>
void with_dot_elements(std::span<const S> a, std::span<const S> b, const Body& body) {
  if constexpr (std::is_same_v<S, Bounded>) {
    const auto exact = [](std::span<const Bounded> values) {
      return std::all_of(values.begin(), values.end(), [](const Bounded& x) { return x.worst == 0.0; });
    };
    const auto plain = [](std::span<const Bounded> values) {
      std::vector<double> result(values.size());
      std::transform(values.begin(), values.end(), result.begin(), [](const Bounded& x) { return x.value; });
      return result;
    };
    if (exact(a) && exact(b)) {
      const std::vector<double> left = plain(a);
      const std::vector<double> right = plain(b);
      body.template operator()<ExactSums>(left.data(), right.data());
    } else {
      body.template operator()<BoundedSums>(a.data(), b.data());
    }
  } else {
    body.template operator()<PlainSums<S>>(a.data(), b.data());
  }
}

/// One row of a matrix product, columns [0, columns) of the block that b points to:
/// sum[j] += Σₖ a[k·a_step] · b[k·b_row_step + j·b_column_step], k ascending.
template <class Sums>
void add_matrix_row(Sums& sums, const typename Sums::Element* a, std::int64_t a_step,
                    const typename Sums::Element* b, std::int64_t b_row_step, std::int64_t b_column_step,
                    std::int64_t depth, std::int64_t columns) {
  for (std::int64_t k = 0; k < depth; ++k)
    sums.add_products(0, columns, a[k * a_step], b + k * b_row_step, b_column_step);
}

/// Columns of a product processed together: their sums stay in the first-level cache.
inline constexpr std::int64_t dot_block = 64;

/// How many items of `cost` multiplications each are worth a separate task.
[[nodiscard]] inline std::int64_t dot_grain(std::int64_t cost) {
  return std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, cost));
}

}  // namespace driftscope
