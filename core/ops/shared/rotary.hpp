// Rotary position embedding: pairs of a head's elements are turned by the angle of their position, (a·cos −
// b·sin, b·cos + a·sin). Pairs are (i, i + half), or neighbours when interleaved; elements beyond the rotary
// size stay. Clients: RotaryEmbedding (both domains), GroupQueryAttention.
#pragma once

#include <cstddef>
#include <span>

#include "core/numerics/math.hpp"
#include "core/numerics/sum.hpp"

namespace driftscope {

/// a·c + b·s; the bound covers fused operations, too.
template <class S>
[[nodiscard]] S sum_of_two_products(const S& a, const S& c, const S& b, const S& s) {
  if constexpr (std::is_same_v<S, Bounded>) {
    Sum<Bounded> sum;
    sum.add_product(a, c);
    sum.add_product(b, s);
    return sum.result();
  } else {
    return a * c + b * s;
  }
}

/// `cos` and `sin` hold half as many elements as are turned.
template <class S>
void rotate_head(std::span<const S> x, std::span<S> y, std::span<const S> cos, std::span<const S> sin,
                 bool interleaved) {
  const std::size_t half = cos.size();
  for (std::size_t i = 0; i < half; ++i) {
    const std::size_t first = interleaved ? 2 * i : i;
    const std::size_t second = interleaved ? 2 * i + 1 : i + half;
    const S a = x[first];
    const S b = x[second];
    y[first] = sum_of_two_products<S>(a, cos[i], -b, sin[i]);
    y[second] = sum_of_two_products<S>(b, cos[i], a, sin[i]);
  }
  for (std::size_t i = 2 * half; i < x.size(); ++i) y[i] = x[i];
}

}  // namespace driftscope
