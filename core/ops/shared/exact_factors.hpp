// Which factors of a product are exact, and how blocks of sums become results.
// Clients: the reference kernels of Conv, Gemm, MatMul, beside exact_product.hpp.
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/eval/kernel_context.hpp"
#include "core/numerics/math.hpp"
#include "core/numerics/simd/exact_product.hpp"
#include "core/numerics/sum.hpp"

namespace driftscope {

/// Calls body with input i as a span of float or double when it carries no error; false otherwise, and
/// for the strict kernel, whose sums are in float32.
template <class S, class Body>
bool with_exact_factor(const KernelContext<S>& context, std::size_t i, const Body& body) {
  if constexpr (std::is_same_v<S, float>) {
    return false;
  } else {
    if (const Tensor* tensor = context.exact(i)) {
      if (tensor->dtype() == DType::float32) {
        body(tensor->values<float>());
      } else if (tensor->dtype() == DType::float64) {
        body(tensor->values<double>());
      } else {
        const std::vector<double> values = lift_values<double>(*tensor);
        body(std::span<const double>(values));
      }
      return true;
    }
    if constexpr (std::is_same_v<S, double>) {
      body(context.real(i));
      return true;
    }
    return false;
  }
}

/// Both factors as they are, of one type.
template <class S, class Body>
bool with_equal_exact_factors(const KernelContext<S>& context, std::size_t left, std::size_t right,
                              const Body& body) {
  bool done = false;
  with_exact_factor(context, left, [&](auto a) {
    using A = typename decltype(a)::value_type;
    done = with_exact_factor(context, right, [&](auto b) {
      if constexpr (std::is_same_v<A, typename decltype(b)::value_type>) {
        body(a, b);
      } else {
        const std::vector<double> wide_a(a.begin(), a.end());
        const std::vector<double> wide_b(b.begin(), b.end());
        body(std::span<const double>(wide_a), std::span<const double>(wide_b));
      }
    });
  });
  return done;
}

/// Both factors, the left one as doubles.
template <class S, class Body>
bool with_exact_factors(const KernelContext<S>& context, std::size_t left, std::size_t right,
                        const Body& body) {
  bool done = false;
  with_exact_factor(context, left, [&](auto a) {
    done = with_exact_factor(context, right, [&](auto b) {
      if constexpr (std::is_same_v<typename decltype(a)::value_type, double>) {
        body(a, b);
      } else {
        const std::vector<double> wide(a.begin(), a.end());
        body(std::span<const double>(wide), b);
      }
    });
  });
  return done;
}

/// Whether inputs 0 and 1 are stored tensors of at most float32. Values passed between double kernels may
/// be any double.
template <class S>
[[nodiscard]] Factors factors_of(const KernelContext<S>& context) {
  const bool stored = context.exact(0) != nullptr && context.exact(1) != nullptr;
  return stored && context.dtype(0) != DType::float64 ? Factors::single : Factors::wide;
}

/// The largest magnitude of a finite element.
template <class T>
[[nodiscard]] double largest_finite(std::span<const T> values) {
  double max_size = 0.0;
  for (const T& x : values)
    if (const auto size = std::fabs(static_cast<double>(math::value(x))); std::isfinite(size))
      max_size = std::fmax(max_size, size);
  return max_size;
}

/// Of a product of finite elements, one of each.
template <class A, class B>
[[nodiscard]] double largest_finite_product(std::span<const A> left, std::span<const B> right) {
  return largest_finite(left) * largest_finite(right);
}

/// Converts blocks of sums to the scalar. For one thread, within one scope of the error model.
template <class S>
class ExactResults {
 public:
  /// `largest`: of a product of finite factors. It is asked only where a sum is infinite or NaN: an
  /// implementation whose finite terms overflow to the other side before the infinite one comes has NaN.
  /// `further`: roundings beyond those of the sum itself.
  explicit ExactResults(std::function<double()> largest, std::int64_t further = 0)
      : largest_(std::move(largest)), further_(further) {}

  /// The result of a sum that began at `start` and added `products` products.
  [[nodiscard]] S operator()(const ExactBlock& block, const S& start, std::int64_t row, std::int64_t column,
                             std::int64_t products) {
    if constexpr (std::is_same_v<S, Bounded>) {
      const double value = block.value(row, column);
      if (!std::isfinite(value)) note_finite_terms(start, products);
      return bounds_.result(start, value, block.magnitude(row, column), products);
    } else {
      return static_cast<S>(block.value(row, column));
    }
  }

 private:
  void note_finite_terms(const Bounded& start, std::int64_t products) {
    if (!limit_) limit_ = largest_();
    const ErrorModel& model = current_error_model();
    const double first = std::isfinite(start.value) ? std::fabs(start.value) : 0.0;
    if (first + *limit_ * static_cast<double>(products) > model.largest)
      model.note_overflow(Overflow::possible);
  }

  std::function<double()> largest_;
  std::optional<double> limit_;
  std::int64_t further_;
  ExactSumBounds bounds_{further_};
};

/// Initialises the sums of row `row` as the scalar's rule requires; see ExactResults.
template <class S>
void begin_row(ExactBlock& block, std::int64_t row, std::int64_t columns, S start) {
  if constexpr (std::is_same_v<S, double>)
    for (std::int64_t j = 0; j < columns; ++j) block.value(row, j) = start;
}

}  // namespace driftscope
