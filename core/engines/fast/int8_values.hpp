// Values of int8 and uint8 for XNNPACK's quantized operators, which compute with int8 alone. Clients:
// operators/, quantized_add.cpp.
#pragma once

#include "core/engines/fast/lowering.hpp"

namespace driftscope::fast {

/// XNNPACK computes with int8: uint8 values are shifted by 128 on the way in and out.
[[nodiscard]] inline std::int8_t as_int8(std::int32_t zero_point, DType dtype) {
  return static_cast<std::int8_t>(dtype == DType::uint8 ? zero_point - 128 : zero_point);
}
/// The value as int8 in this layout: itself, or shifted by a step that is emitted.
[[nodiscard]] Result<BufferId> read_int8(Lowering& lowering, ValueId id, Layout layout);
/// The buffer that a step writes as int8; `finish_int8` must follow.
struct Int8Output {
  BufferId buffer = no_buffer;  ///< for the step
  BufferId value = no_buffer;   ///< of the graph
};
[[nodiscard]] Int8Output write_int8(Lowering& lowering, ValueId id, Layout layout);
void finish_int8(Lowering& lowering, const Int8Output& output);

}  // namespace driftscope::fast
