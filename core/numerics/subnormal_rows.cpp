#include "core/numerics/subnormal_rows.hpp"

#include <cmath>

namespace driftscope {
namespace {

constexpr double smallest_normal = 0x1p-126;

}  // namespace

ErrorModel keeping_subnormals(ErrorModel model) {
  constexpr double four_units = 0x1p-147;
  for (FunctionAccuracy* function :
       {&model.exp, &model.log, &model.tanh, &model.hyperbolic, &model.sin, &model.tan, &model.asin,
        &model.atan, &model.erf, &model.gelu_erf, &model.pow})
    if (function->absolute == smallest_normal) function->absolute = four_units;
  return model;
}

ErrorModel flushing_results(ErrorModel model) {
  for (FunctionAccuracy* function :
       {&model.exp, &model.log, &model.tanh, &model.sigmoid, &model.hyperbolic, &model.sin, &model.tan,
        &model.asin, &model.atan, &model.erf, &model.gelu_erf, &model.pow})
    function->absolute = std::fmax(function->absolute, smallest_normal);
  return model;
}

}  // namespace driftscope
