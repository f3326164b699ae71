// A Conv of the graph whose input has few channels as a step of the plan (row_convolution.hpp). Client:
// operators/conv.cpp.
#pragma once

#include "core/engines/fast/float_conv.hpp"
#include "core/engines/fast/lowering.hpp"

namespace driftscope::fast {

/// With the activation behind it, when fusing. False for other convolutions, and where memory is short.
[[nodiscard]] Result<bool> lower_by_rows(Lowering& lowering, const Node& node, const FloatConv& conv);

}  // namespace driftscope::fast
