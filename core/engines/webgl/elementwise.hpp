// Draws of shaders/webgl/elementwise.glsl. Clients: nary, unary, normalizations.
#pragma once

#include "core/engines/webgl/lowering.hpp"

namespace driftscope::webgl {

/// `write` = `expression` in vec4 x0, x1, …, each of `reads` walked along an operand of `joined_axes` (over
/// the result's memory). `functions`: it uses those of functions.glsl.
[[nodiscard]] Result<bool> emit_elementwise(Lowering& lowering, std::string expression, bool functions,
                                            const std::vector<WalkAxis>& joined_axes,
                                            std::vector<BufferId> reads, BufferId write);

/// The same of values that lie as the result does.
[[nodiscard]] Result<bool> emit_elementwise(Lowering& lowering, std::string expression, bool functions,
                                            std::int64_t count, std::vector<BufferId> reads, BufferId write);

}  // namespace driftscope::webgl
