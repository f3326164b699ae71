// Results of attacks as one self-contained HTML page, without scripts: success and transfer with intervals,
// robustness of targets against methods, adversarial examples as pictures. Clients: attack --html, report.
#pragma once

#include <string>
#include <vector>

#include "core/report/attack_results.hpp"

namespace driftscope {

/// At least one result.
[[nodiscard]] std::string attack_page(const std::vector<AttackResults>& all);

}  // namespace driftscope
