// Sums of products in float32, in the orders of summation that runtimes use: what such sums lose on given
// terms. Clients: lower_precision. It knows nothing of tensors.
#pragma once

#include "core/verify/product_terms.hpp"

namespace driftscope {

/// What the exact sum and its roundings are made of; all but `value` without the element's scale.
struct SumStatistics {
  double value = 0.0;      ///< start + Σ a·b
  double magnitude = 0.0;  ///< |start| + Σ|a·b|
  double spread = 0.0;     ///< √Σ(a·b)²: what independent relative errors of the terms are scaled by
  /// √ of the squares of all partial sums, one after the other, and of the products: the size of what one
  /// rounding each makes.
  double walk = 0.0;
  /// The same where every partial sum were as large as in the worst order of the terms.
  double any_walk = 0.0;
};

[[nodiscard]] SumStatistics statistics_of(const ProductTerms& terms);

/// One accumulator, in the order of the terms.
[[nodiscard]] float ascending_sum(const ProductTerms& terms);

/// How many further orders there are: from the end, fused, interleaved and in blocks of several sizes.
[[nodiscard]] std::size_t other_orders();
[[nodiscard]] float other_sum(const ProductTerms& terms, std::size_t order);

}  // namespace driftscope
