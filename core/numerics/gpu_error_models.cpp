// Compiled for size on the web (cmake/core.cmake).
#include "core/numerics/gpu_error_models.hpp"

#include <numbers>

namespace driftscope {

// WebGPU Shading Language, section "Accuracy of Concrete Floating Point Expressions": + − × correctly
// rounded in an unspecified direction (one ULP), x / y 2.5 ULP, exp 3 + 2·|x| ULP, sqrt inherited from
// 1 / inverseSqrt (2 + 2.5 ULP), tanh 1e-5 absolute or inherited. Section "Differences from IEEE-754":
// subnormals may be flushed, NaN and infinity may be assumed absent, reassociation is allowed.
// Sigmoid is not a built-in: 1 / (1 + exp(−x)) has the error of exp, of one + and of one ÷. log 3 ULP, or
// 2⁻²¹ absolute in [0.5, 2]; sin and cos 2⁻¹¹ absolute in [−π, π]; atan 4096 ULP; asin and acos 6.8e-5
// absolute or inherited from atan2(x, √(1 − x²)), whose root loses half the digits at ±1; sinh, cosh,
// tan, pow and the inverse hyperbolic functions inherited. erf is not a built-in either: runtimes take
// Abramowitz and Stegun 7.1.26, 1.5e-7 from the exact value before rounding.
ErrorModel wgsl_model() {
  constexpr double smallest_normal = 0x1p-126;
  ErrorModel model;
  model.unit_roundoff = 0x1p-23;
  model.rounds_to_nearest = false;
  model.absolute = smallest_normal;
  model.flushes_subnormals = true;
  model.keeps_specials = false;
  model.division_ulp = 2.5;
  model.sqrt_ulp = 4.5;
  model.exp = {3.0, 2.0, smallest_normal};
  model.tanh = {5.0, 0.0, 1e-5};
  model.sigmoid = {3.0 + 1.0 + 2.5, 2.0, smallest_normal};
  model.log = {3.0, 0.0, smallest_normal};
  model.log_absolute = 0x1p-21;
  model.sin = {0.0, 0.0, 0x1p-11, std::numbers::pi};
  model.asin = {4096.0, 0.0, 0x1p-11};
  model.atan = {4096.0, 0.0, smallest_normal};
  model.erf = model.gelu_erf = {4.0, 0.0, 2e-6};
  model.derives_functions = true;
  return model;
}

// OpenGL ES Shading Language 3.00.6, section 4.5.1 "Range and Precision", highp: + − × correctly
// rounded in an unspecified direction, x / y 2.5 ULP, exp 3 + 2·|x| ULP, sqrt inherited from
// 1 / inversesqrt (2 + 2.5 ULP); NaN need not propagate, subnormals may be flushed. tanh is inherited
// from (eˣ − e⁻ˣ) / (eˣ + e⁻ˣ), whose difference cancels near 0: absolute there. Of the trigonometric
// functions and their inverses the precision is undefined.
ErrorModel glsl_model() {
  ErrorModel model = wgsl_model();
  model.sin.reach = model.asin.reach = model.atan.reach = -1.0;
  return model;
}

}  // namespace driftscope
