// Which factors of a product are plain numbers, and how blocks of sums become results.
// Clients: the reference kernels of Conv, Gemm, MatMul, beside exact_product.hpp.
#pragma once

#include <cmath>
#include <span>
#include <type_traits>
#include <vector>

#include "core/ops/support/exact_product.hpp"
#include "core/ops/support/kernel_context.hpp"
#include "core/ops/support/sum.hpp"

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

/// What a sum that began at `start` and grew by `products` products is, as the scalar.
template <class S>
[[nodiscard]] S exact_result(const ExactBlock& block, S start, std::int64_t row,
                             std::int64_t column, std::int64_t products) {
  if constexpr (std::is_same_v<S, Bounded>) {
    Sum<Bounded> sum(start);
    sum.add_exact_products(block.value(row, column), block.magnitude(row, column), products);
    return sum.result();
  } else {
    return static_cast<S>(block.value(row, column));
  }
}

/// Begins the sums of row `row` where the scalar's rule has them begin; see exact_result.
template <class S>
void begin_row(ExactBlock& block, std::int64_t row, std::int64_t columns, S start) {
  if constexpr (std::is_same_v<S, double>)
    for (std::int64_t j = 0; j < columns; ++j) block.value(row, j) = start;
}

}  // namespace driftscope
