// The rows of engines that give results in the subnormal range as they are. Others may flush what functions
// give there (ErrorModel's default of 2⁻¹²⁶). Clients: engines that describe themselves, verify's
// engine_models.
#pragma once

#include "core/numerics/error_model.hpp"

namespace driftscope {

/// The same with four units in the last place of the subnormal range in place of all of it; not for sigmoid,
/// where 1/(1 + e⁻ˣ) is 0 once e⁻ˣ overflows, and not where a row already has another number.
[[nodiscard]] ErrorModel keeping_subnormals(ErrorModel model);

/// Every function may give 0 for all of the subnormal range.
[[nodiscard]] ErrorModel flushing_results(ErrorModel model);

}  // namespace driftscope
