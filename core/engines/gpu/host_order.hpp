// Values between the order of a device and that of the host. Client: the session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/lowering/layout.hpp"

namespace driftscope::gpu {

/// Copies the elements of a value of this shape, of `element_bytes` each (1, 2, 4 or 8), from one layout into
/// another; neither has a packing.
void copy_in_order(const Shape& shape, std::size_t element_bytes, lowering::Layout from,
                   const std::byte* source, lowering::Layout to, std::byte* target);

/// Where each element of a value lies in this layout; empty where they lie in ONNX's order.
[[nodiscard]] std::vector<std::uint32_t> places_of(const Shape& shape, lowering::Layout layout);

}  // namespace driftscope::gpu
