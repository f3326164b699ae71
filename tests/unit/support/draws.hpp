// Random numbers of tests. Clients: tests of kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/rng.hpp"

namespace driftscope::test {

/// Uniform in [from, to].
inline std::int64_t drawn(Rng& rng, std::int64_t from, std::int64_t to) {
  return from + static_cast<std::int64_t>(rng.below(static_cast<std::uint32_t>(to - from + 1)));
}

/// About standard normal.
inline std::vector<float> normals(Rng& rng, std::int64_t size) {
  std::vector<float> values(static_cast<std::size_t>(size));
  for (float& x : values) x = rng.normal();
  return values;
}

}  // namespace driftscope::test
