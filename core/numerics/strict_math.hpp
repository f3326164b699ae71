// exp, tanh, sigmoid and erf with the same bits everywhere: binary32 + − × ÷ and bit operations only, no
// FMA, no double, no tables, subnormal results kept. Clients: the float instantiation of the
// reference kernels, the strict engine (whose vector forms come from the same formulas,
// strict_math_formulas.inc). Not for the double and Bounded scalars.
//
// Largest errors over all 2³² arguments, found by tests/bench/strict_math_all_floats.cpp against
// binary64; a NaN gives a NaN. Error in ULP of the exact result (2⁻¹⁴⁹ where that is subnormal).
//
// All other strict functions (log, sin, cos, tan, pow, softplus, expm1, log1p, sinh, cosh and the
// inverses) are those of portable_math.hpp rounded to float, math.hpp: 0.5001 ULP at most, since the
// double functions are within 2 ULP of binary64; the same program tries them.
#pragma once

namespace driftscope {

/// 0.8637 ULP, at 0x1.20d21p+2. exp(−∞) is +0.
[[nodiscard]] float strict_exp(float x);
/// 0.8602 ULP, at 0x1.b5eb0ep-1. tanh(−0) is −0.
[[nodiscard]] float strict_tanh(float x);
/// 1/(1 + e⁻ˣ): 1.3683 ULP, at −0x1.4b170ep+2. sigmoid(−∞) is +0.
[[nodiscard]] float strict_sigmoid(float x);
/// 1.3144 ULP, at −0x1.fd1802p-1. erf(−0) is −0.
[[nodiscard]] float strict_erf(float x);

}  // namespace driftscope
