#include "core/base/minifloat.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace driftscope {
namespace {

using Specials = Minifloat::Specials;

unsigned magnitude_mask(const Minifloat& format) { return (1u << (format.exponent + format.fraction)) - 1; }

unsigned sign_bit(const Minifloat& format) {
  return format.has_sign ? 1u << (format.exponent + format.fraction) : 0;
}

/// Of the largest exponent and no fraction.
unsigned infinity_bits(const Minifloat& format) { return ((1u << format.exponent) - 1) << format.fraction; }

unsigned largest_bits(const Minifloat& format) {
  switch (format.specials) {
    case Specials::ieee: return infinity_bits(format) - 1;
    case Specials::nan_of_ones: return magnitude_mask(format) - 1;
    case Specials::nan_for_minus_zero:
    case Specials::none: break;
  }
  return magnitude_mask(format);
}

/// NaN with this sign; in a format without NaN -0, as ONNX's cases have it.
unsigned nan_bits(const Minifloat& format, unsigned sign) {
  switch (format.specials) {
    case Specials::ieee: return sign | infinity_bits(format) | 1u << (format.fraction - 1);
    case Specials::nan_of_ones: return sign | magnitude_mask(format);
    case Specials::nan_for_minus_zero: return sign_bit(format);
    case Specials::none: break;
  }
  return sign_bit(format);
}

double magnitude_of(const Minifloat& format, unsigned magnitude) {
  const auto fraction = static_cast<int>(magnitude & ((1u << format.fraction) - 1));
  const auto exponent = static_cast<int>(magnitude >> format.fraction);
  const bool subnormal = format.has_zero && exponent == 0;
  const int hidden = subnormal ? 0 : 1 << format.fraction;
  return std::ldexp(hidden + fraction, (subnormal ? 1 : exponent) - format.bias - format.fraction);
}

/// The bits of a finite magnitude, rounded; one more than those of the largest where it is too large. Bits
/// are in the order of the numbers, so that a carry into the next exponent comes out right.
unsigned rounded_bits(const Minifloat& format, double magnitude, MinifloatRounding rounding) {
  const int lowest = 1 - format.bias - (format.has_zero ? 0 : 1);  // exponent of the smallest normal
  const int exponent = magnitude == 0.0 ? lowest : std::max(std::ilogb(magnitude), lowest);
  const double units = std::ldexp(magnitude, format.fraction - exponent);
  double whole = std::floor(units);
  const double rest = units - whole;
  const bool odd = format.fraction == 0 || std::fmod(whole, 2.0) != 0.0;
  if (rounding == MinifloatRounding::up)
    whole += rest > 0.0 ? 1.0 : 0.0;
  else if (rounding == MinifloatRounding::nearest)
    whole += rest > 0.5 || (rest == 0.5 && odd) ? 1.0 : 0.0;
  if (!format.has_zero && whole == 0.0) return 0;  // below the smallest
  const double hidden = std::ldexp(1.0, format.fraction);
  const double bits = whole + hidden * (exponent - lowest);
  const double beyond = static_cast<double>(largest_bits(format)) + 1.0;
  // Without a zero the first exponent has no hidden unit to leave out.
  return static_cast<unsigned>(std::fmin(format.has_zero ? bits : bits - hidden, beyond));
}

}  // namespace

double widen(const Minifloat& format, unsigned bits) {
  const unsigned magnitude = bits & magnitude_mask(format);
  const bool negative = (bits & sign_bit(format)) != 0;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (format.specials == Specials::nan_for_minus_zero && negative && magnitude == 0) return nan;
  double value = magnitude_of(format, magnitude);
  if (format.specials == Specials::nan_of_ones && magnitude > largest_bits(format)) return nan;
  if (format.specials == Specials::ieee && magnitude > largest_bits(format))
    value = magnitude == infinity_bits(format) ? std::numeric_limits<double>::infinity() : nan;
  return negative ? -value : value;
}

double largest_of(const Minifloat& format) { return magnitude_of(format, largest_bits(format)); }

unsigned narrow(const Minifloat& format, double x, bool saturate, MinifloatRounding rounding) {
  const unsigned sign = std::signbit(x) ? sign_bit(format) : 0;
  if (std::isnan(x)) return nan_bits(format, sign);
  const double magnitude = std::fabs(x);
  if (!format.has_zero && !saturate &&
      (magnitude < magnitude_of(format, 0) || magnitude > largest_of(format)))
    return nan_bits(format, sign);
  const unsigned top = largest_bits(format);
  const unsigned bits = std::isinf(x) ? top + 1 : rounded_bits(format, magnitude, rounding);
  if (bits > top) {
    if (saturate || format.specials == Specials::none) return sign | top;
    return format.specials == Specials::ieee ? sign | infinity_bits(format) : nan_bits(format, sign);
  }
  if (bits == 0 && format.specials == Specials::nan_for_minus_zero) return 0;
  return sign | bits;
}

}  // namespace driftscope
