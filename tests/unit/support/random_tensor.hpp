// Tensors of normally distributed numbers. Clients: tests of engines and operators.
#pragma once

#include "core/base/rng.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test {

inline Tensor random_tensor(Rng& rng, Shape shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& x : values) x = rng.normal();
  return tensor<float>(std::move(shape), values);
}

}  // namespace driftscope::test
