// binary16 and bfloat16, stored as their bits: exact widening, and rounding to nearest even from
// double in one step. Clients: evaluate (lift, lower), metrics. No arithmetic in these types.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/float_bits.hpp"

namespace driftscope {

/// A small binary format: bits of the fraction and of the exponent.
struct SmallFloat {
  int fraction = 10;
  int exponent = 5;
  [[nodiscard]] constexpr int bias() const { return (1 << (exponent - 1)) - 1; }
};
inline constexpr SmallFloat float16_format{10, 5};
inline constexpr SmallFloat bfloat16_format{7, 8};

/// The value of these 16 bits, exactly.
[[nodiscard]] inline double widen(SmallFloat format, std::uint16_t bits) {
  const int exponent_mask = (1 << format.exponent) - 1;
  const int fraction = bits & ((1 << format.fraction) - 1);
  const int exponent = (bits >> format.fraction) & exponent_mask;
  const double sign = (bits >> 15) != 0 ? -1.0 : 1.0;
  if (exponent == exponent_mask)
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  const int hidden = exponent == 0 ? 0 : 1 << format.fraction;
  const int scale = (exponent == 0 ? 1 : exponent) - format.bias() - format.fraction;
  return sign * std::ldexp(static_cast<double>(hidden + fraction), scale);
}

/// The nearest number of the format, ties to even; overflow becomes infinity.
[[nodiscard]] inline std::uint16_t narrow(SmallFloat format, double x) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000 : 0);
  const int infinite_bits = ((1 << format.exponent) - 1) << format.fraction;
  if (std::isnan(x)) return static_cast<std::uint16_t>(sign | infinite_bits | (1 << (format.fraction - 1)));
  const double magnitude = std::fabs(x);
  const double largest = std::ldexp(2.0, format.bias());
  if (magnitude >= largest) return static_cast<std::uint16_t>(sign | infinite_bits);
  // In units of the last place everything below is an exact small integer. The bits of a positive
  // number are ordered, so a carry into the next binade, and into infinity, comes out right.
  const double smallest_normal = std::ldexp(1.0, 1 - format.bias());
  const double binade = magnitude < smallest_normal ? smallest_normal : power_of_two_below(magnitude);
  const double units = std::nearbyint(std::ldexp(magnitude / binade, format.fraction));
  const int exponent = magnitude < smallest_normal ? 0 : std::ilogb(binade) + format.bias() - 1;
  const int bits = (exponent << format.fraction) + static_cast<int>(units);
  return static_cast<std::uint16_t>(sign | (bits < infinite_bits ? bits : infinite_bits));
}

}  // namespace driftscope
