// R, a model's robustness against several attacks as one number: the smaller, the more robust. Sources:
// Guo et al., ASE 2019, Eq. 1 and 2; Openja et al., ICSME 2022, Eq. 4. R is relative: it says how models of
// one comparison stand to each other, and changes when another model joins it. Clients: attack, studies.
#pragma once

#include <span>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

/// P (Eq. 1): (x − min) ÷ (max − min) of each value; all 0 where max = min. The values are finite.
[[nodiscard]] std::vector<double> min_max_scaled(std::span<const double> values);

/// R (Eq. 2) of each model: the sum over attacks of P of its success rates, from 0 to the number of attacks.
/// `success[k][i]`: of attack k on model i, as a share or in percent. Errors: no attack or no model, rows of
/// different lengths, rates that are not finite.
[[nodiscard]] Result<std::vector<double>> robustness_indicators(std::span<const std::vector<double>> success);

/// R (Eq. 4) of each conversion: the same of |after − before|; the columns are all models and all conversions
/// that are compared. Errors: as above, and shapes that differ.
[[nodiscard]] Result<std::vector<double>> conversion_robustness_indicators(
    std::span<const std::vector<double>> before, std::span<const std::vector<double>> after);

}  // namespace driftscope
