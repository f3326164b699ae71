// Basic iterative method (Kurakin et al. 2017), as Foolbox 3's LinfBasicIterativeAttack: 10 steps of 0.2 ε.
#include "core/attack/gradient_steps.hpp"

namespace driftscope::attack_methods::bim {

static std::unique_ptr<Attack> make(std::vector<AttackSample> samples, const AttackSettings& settings) {
  constexpr double relative_step = 0.2;
  const std::int64_t steps = settings.steps == 0 ? 10 : settings.steps;
  return gradient_steps(std::move(samples), settings, relative_step * settings.epsilon, steps);
}

void add_to(AttackMethodTable& table) {
  table.add({.order = 20,
             .name = "bim",
             .help = "10 steps of 0.2 epsilon along the sign of the gradient, within epsilon",
             .needs_epsilon = true,
             .needs_gradients = true,
             .make = make});
}

}  // namespace driftscope::attack_methods::bim
