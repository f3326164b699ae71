// Tensors of random numbers. Clients: tests of engines and operators.
#pragma once

#include "core/base/rng.hpp"
#include "tests/unit/support/draws.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test {

inline Tensor random_tensor(Rng& rng, Shape shape) {
  const std::vector<float> values = normals(rng, element_count(shape));
  return tensor<float>(std::move(shape), values);
}

inline Tensor random_bytes(Rng& rng, std::int64_t count) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(rng.below(256));
  return tensor<std::uint8_t>({count}, bytes);
}

}  // namespace driftscope::test
