// Fast gradient sign method (Goodfellow et al. 2015): one step of size ε, as Foolbox 3's FGSM.
#include "core/attack/gradient_steps.hpp"

namespace driftscope::attack_methods::fgsm {

static std::unique_ptr<Attack> make(std::vector<AttackSample> samples, const AttackSettings& settings) {
  return gradient_steps(std::move(samples), settings, settings.epsilon, 1);
}

void add_to(AttackMethodTable& table) {
  table.add({.order = 10,
             .name = "fgsm",
             .help = "one step of size epsilon along the sign of the gradient",
             .needs_epsilon = true,
             .needs_gradients = true,
             .published_slip =
                 "results are not clipped to the data's range, as the PyTorch samples of Openja "
                 "et al. 2022",
             .make = make});
}

}  // namespace driftscope::attack_methods::fgsm
