// Sum and bounds in one pass over memory: the end of a residual block. Client: operators/binary.cpp.
#pragma once

#include <cstddef>

#include "core/engines/strict/simd/target.hpp"

namespace driftscope::fast {

/// y[i] = min(max(a[i] + b[i], low), high); NaN stays NaN. y may be a or b.
using AddClamped = void (*)(const float* a, const float* b, float low, float high, float* y, std::size_t n);

[[nodiscard]] AddClamped add_clamped(const SimdTarget& target);

}  // namespace driftscope::fast
