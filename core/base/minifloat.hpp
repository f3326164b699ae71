// Floating types of 8 bits and fewer: the float8 formats (Micikevicius et al. 2022; Noune et al. 2022), and
// elements and scales of the OCP microscaling formats (MX specification 1.0), as ONNX stores them. Exact
// widening, and rounding from double in one step. Clients: element.hpp, Cast, QuantizeLinear.
#pragma once

namespace driftscope {

/// A small binary format: a sign or none, bits of the exponent and of the fraction.
struct Minifloat {
  enum class Specials {
    ieee,                ///< infinities and NaNs with the largest exponent
    nan_of_ones,         ///< no infinity; all bits but the sign set is NaN
    nan_for_minus_zero,  ///< neither infinity nor -0, whose bits are NaN
    none,
  };
  int fraction = 0;
  int exponent = 0;
  int bias = 0;
  Specials specials = Specials::none;
  bool has_sign = true;
  bool has_zero = true;  ///< and subnormals; without it exponent 0 is an ordinary one
};
inline constexpr Minifloat float8e4m3fn_format{3, 4, 7, Minifloat::Specials::nan_of_ones};
inline constexpr Minifloat float8e4m3fnuz_format{3, 4, 8, Minifloat::Specials::nan_for_minus_zero};
inline constexpr Minifloat float8e5m2_format{2, 5, 15, Minifloat::Specials::ieee};
inline constexpr Minifloat float8e5m2fnuz_format{2, 5, 16, Minifloat::Specials::nan_for_minus_zero};
inline constexpr Minifloat float8e8m0_format{0, 8, 127, Minifloat::Specials::nan_of_ones, false, false};
inline constexpr Minifloat float4e2m1_format{1, 2, 1, Minifloat::Specials::none};

/// How a number that lies between two of the format is rounded, by ONNX's names (Cast, `round_mode`).
enum class MinifloatRounding {
  nearest,  ///< ties to even, of a format without fraction upwards
  up,       ///< away from zero
  down,     ///< towards zero
};

/// The value of these bits, exactly.
[[nodiscard]] double widen(const Minifloat& format, unsigned bits);

/// The largest finite number.
[[nodiscard]] double largest_of(const Minifloat& format);

/// The number that ONNX's tables have for x. `saturate`: what is too large becomes the largest number, else
/// infinity or NaN, if the format has one. Without a sign the magnitude counts; ONNX leaves it open.
[[nodiscard]] unsigned narrow(const Minifloat& format, double x, bool saturate,
                              MinifloatRounding rounding = MinifloatRounding::nearest);

}  // namespace driftscope
