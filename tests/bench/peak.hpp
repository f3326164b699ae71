// How fast this processor multiplies and adds without fused operations: the yardstick of the strict
// benchmarks. One thread.
#pragma once

#include "core/engines/strict/simd/target.hpp"

namespace driftscope {

/// The best of several short runs of independent multiplications and additions, GFLOP/s.
[[nodiscard]] double peak_gflops(const SimdTarget& target);

}  // namespace driftscope
