// A Conv of the graph as a step of the plan that runs Winograd's convolution (winograd.hpp). Client:
// operators/conv.cpp.
#pragma once

#include "core/engines/fast/float_conv.hpp"
#include "core/engines/fast/lowering.hpp"

namespace driftscope::fast {

/// With the Add and the activation behind it, when fusing. False where the direct way is faster, or there is
/// no memory for transformed weights.
[[nodiscard]] Result<bool> lower_by_winograd(Lowering& lowering, const Node& node, const FloatConv& conv);

}  // namespace driftscope::fast
