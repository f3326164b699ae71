// Which SIMD instruction sets this build has and this processor runs. Chosen per session, so that a
// test can run every width side by side. Clients: the strict engine, its kernels, tests,
// benchmarks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

struct SimdTarget {
  std::int64_t highway = 0;  ///< Highway's bit of the instruction set
  int bits = 0;              ///< width of a vector
  std::string name;          ///< "AVX-512, 512 bit", "wasm SIMD128"
};

/// Best first; at least one. Only instruction sets that this processor has.
[[nodiscard]] const std::vector<SimdTarget>& simd_targets();

/// The one of this width (128, 256, 512), or the best for 0. The error lists the available ones.
[[nodiscard]] Result<SimdTarget> choose_simd(int bits);

}  // namespace driftscope
