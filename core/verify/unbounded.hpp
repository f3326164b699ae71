// Why a layer's budget is infinite, in words. Client: judges/elements.cpp.
#pragma once

#include <string>

#include "core/verify/judge.hpp"

namespace driftscope {

/// "WGSL promises an accuracy of sin and cos only for arguments from −π to π": the first node of the layer
/// and its group of which the engine promises nothing, or that is not defined everywhere. Empty where no
/// node says.
[[nodiscard]] std::string why_unbounded(const LayerCase& layer);

}  // namespace driftscope
