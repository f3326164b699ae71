// Sums of products in float32, in the orders of summation that runtimes use: the errors of such sums on given
// terms. Clients: lower_precision. It knows nothing of tensors.
#pragma once

#include "core/verify/product_terms.hpp"

namespace driftscope {

/// Statistics of an exact sum and its roundings; all except `value` without the element's scale.
struct SumStatistics {
  double value = 0.0;      ///< start + Σ a·b
  double magnitude = 0.0;  ///< |start| + Σ|a·b|
  double spread = 0.0;     ///< √Σ(a·b)²: scales independent relative errors of the terms
  /// √ of the sum of squares of all partial sums, in order, and of the products: scales the error of one
  /// rounding of each.
  double walk = 0.0;
  /// The same if every partial sum were as large as in the worst order of the terms.
  double any_walk = 0.0;
};

[[nodiscard]] SumStatistics statistics_of(const ProductTerms& terms);

/// One accumulator, in the order of the terms.
[[nodiscard]] float ascending_sum(const ProductTerms& terms);

/// Number of other orders: reversed, fused, interleaved and in blocks of several sizes.
[[nodiscard]] std::size_t other_orders();
[[nodiscard]] float other_sum(const ProductTerms& terms, std::size_t order);

}  // namespace driftscope
