// Activation functions by name and parameters, composed where TensorFlow has no operator for them. Clients:
// the operators of these names, the recurrent ones.
#pragma once

#include "core/convert/tf/lowering.hpp"
#include "core/ops/shared/activation.hpp"

namespace driftscope::tf {

/// The activation of a tensor, elementwise.
[[nodiscard]] std::string activated(Lowering& lowering, const Activation& activation, const std::string& x);

/// x within [low, high].
[[nodiscard]] std::string clipped(Lowering& lowering, const std::string& x, float low, float high);

}  // namespace driftscope::tf
