// Integers as the float32 numbers that an engine without integers holds them as. Clients: GraphLowering, the
// session of GPU engines.
#pragma once

#include <cstddef>
#include <span>

#include "core/model/tensor.hpp"

namespace driftscope::lowering {

/// Integers of up to 32 bits; exact below 2^24.
[[nodiscard]] Result<Tensor> as_float32(const Tensor& tensor);

/// Elements of int8, uint8 or int32 from their bytes, and back: towards the nearest number that the type has,
/// NaN as 0.
void to_float32(DType from, std::span<const std::byte> source, std::span<float> target);
void from_float32(std::span<const float> source, DType to, std::span<std::byte> target);

}  // namespace driftscope::lowering
