// Gelu through tanh: ½·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))). Clients: Gelu, MoE.
#pragma once

#include "core/numerics/math.hpp"

namespace driftscope {

/// What tanh takes: √(2/π)·(x + 0.044715·(x·x·x)), in this order.
template <class S>
[[nodiscard]] S gelu_cubic(S x) {
  const S cube = math::rounded_constant<S>(0.044715) * (x * x * x);
  return math::rounded_constant<S>(0.79788456080286536) * (x + cube);
}

}  // namespace driftscope
