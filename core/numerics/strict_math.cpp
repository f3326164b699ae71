#include "core/numerics/strict_math.hpp"

#include <bit>
#include <cstdint>

namespace driftscope {
namespace {

#include "core/numerics/strict_math_formulas.inc"

/// One lane.
struct ScalarLanes {
  using Float = float;
  using Uint = std::uint32_t;
  using Mask = bool;

  static Float set(float x) { return x; }
  static Float add(Float a, Float b) { return a + b; }
  static Float sub(Float a, Float b) { return a - b; }
  static Float mul(Float a, Float b) { return a * b; }
  static Float div(Float a, Float b) { return a / b; }
  static Mask less(Float a, Float b) { return a < b; }
  static Float select(Mask mask, Float yes, Float no) { return mask ? yes : no; }
  static Uint bits(Float x) { return std::bit_cast<Uint>(x); }
  static Float from_bits(Uint x) { return std::bit_cast<Float>(x); }
  static Uint add_bits(Uint a, std::uint32_t b) { return a + b; }
  static Uint sub_bits(Uint a, Uint b) { return a - b; }
  static Uint and_bits(Uint a, std::uint32_t b) { return a & b; }
  static Uint or_bits(Uint a, Uint b) { return a | b; }
  template <int count>
  static Uint shift_left(Uint a) {
    return a << count;
  }
  template <int count>
  static Uint shift_right(Uint a) {
    return a >> count;
  }
};

using Scalar = StrictMathFormulas<ScalarLanes>;

}  // namespace

float strict_exp(float x) { return Scalar::exp(x); }
float strict_tanh(float x) { return Scalar::tanh(x); }
float strict_sigmoid(float x) { return Scalar::sigmoid(x); }
float strict_erf(float x) { return Scalar::erf(x); }

}  // namespace driftscope
