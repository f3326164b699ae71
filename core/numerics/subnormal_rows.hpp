// The rows of engines that preserve results in the subnormal range. Others may flush such results of
// functions (ErrorModel's default of 2⁻¹²⁶). Clients: engines that describe themselves, verify's
// engine_models.
#pragma once

#include "core/numerics/error_model.hpp"

namespace driftscope {

/// The same with an error of four units in the last place instead of the whole subnormal range; not for
/// sigmoid, where 1/(1 + e⁻ˣ) is 0 once e⁻ˣ overflows, nor where a row already has another number.
[[nodiscard]] ErrorModel keeping_subnormals(ErrorModel model);

/// Every function may return 0 in the whole subnormal range.
[[nodiscard]] ErrorModel flushing_results(ErrorModel model);

}  // namespace driftscope
