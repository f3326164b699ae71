// The product of many factors, for each scalar: in the order given; the bound holds for every order.
// Clients: ReduceProd.
#pragma once

#include <span>

#include "core/numerics/bounded.hpp"

namespace driftscope {

template <class S>
[[nodiscard]] S product_of(std::span<const S> factors) {
  S product = S(1);
  for (const S& x : factors) product = product * x;
  return product;
}
template <>
[[nodiscard]] Bounded product_of<Bounded>(std::span<const Bounded> factors);

}  // namespace driftscope
