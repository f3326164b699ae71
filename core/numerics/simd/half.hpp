// Floats of 16 bits to float32 and back, by vectors, with the bits of core/base/half.hpp on every processor:
// exact widening (NaN becomes the positive quiet one), rounding to nearest even (a NaN keeps its sign alone).
// Clients: lift and lower in evaluate, the strict engine.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/half.hpp"

namespace driftscope {

/// `format` is float16_format or bfloat16_format; `to` is as long as `from`.
void widen(SmallFloat format, std::span<const std::uint16_t> from, std::span<float> to);
void narrow(SmallFloat format, std::span<const float> from, std::span<std::uint16_t> to);

}  // namespace driftscope
