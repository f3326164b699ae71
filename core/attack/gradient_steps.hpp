// Steps along the sign of the gradient within a ball around the sample. Clients: methods fgsm and bim.
#pragma once

#include "core/attack/attack.hpp"

namespace driftscope {

/// Foolbox 3's LinfBaseGradientDescent without random start: `steps` times x ← x + step·sign(∂loss/∂x),
/// then into the ball of radius ε around the sample, then into the data's range; in float32. The loss is the
/// sum of the samples' cross-entropies. The answer is asked after each step, until it is wrong; without
/// settings.stops_at_success once, at the end, as Foolbox does.
[[nodiscard]] std::unique_ptr<Attack> gradient_steps(std::vector<AttackSample> samples,
                                                     const AttackSettings& settings, double step,
                                                     std::int64_t steps);

}  // namespace driftscope
