// Functions of lanes in two passes: what is common to a lane into a texel for each, then every element with
// the texel of its lane. Clients: softmax, normalizations.
#pragma once

#include "core/engines/webgl/lowering.hpp"
#include "core/ops/shared/lanes.hpp"

namespace driftscope::webgl {

/// Whether lanes are short enough for one fragment each; to be asked before a result is begun.
[[nodiscard]] bool lanes_fit(const Lowering& lowering, const Lanes& lanes);

/// `reads` begins with what the lanes consist of; `of_element` gets the texels of the lanes as in1, the
/// others behind it. Adds SIZE, INNER, ELEMENTS and COUNT.
[[nodiscard]] Result<bool> emit_lanes(Lowering& lowering, std::string_view of_lane,
                                      std::string_view of_element, ShaderValues values, const Lanes& lanes,
                                      std::vector<BufferId> reads, BufferId write);

}  // namespace driftscope::webgl
