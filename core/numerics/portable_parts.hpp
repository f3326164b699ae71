// Building blocks of portable_math.hpp: exponential, logarithm and arc tangent in twice
// the precision. Clients: portable_*.cpp only.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/numerics/double_double.hpp"

namespace driftscope::portable {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Below this, the next term of the odd functions is less than a quarter of an ULP.
inline constexpr double tiny = 0x1p-28;

/// 2ᵏ for k in [−1022, 1023].
[[nodiscard]] inline double power_of_two(int k) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52);
}

/// x·2ᵏ for x near 1 and k in [−2000, 2000]; beyond the range of normal numbers it rounds once more.
[[nodiscard]] inline double scaled(double x, int k) {
  const int half = k / 2;
  return x * power_of_two(half) * power_of_two(k - half);
}

inline constexpr Wide ln_2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

/// eˣ = value·2ᵏ, value in [0.70, 1.42] with a relative error of 2⁻⁵⁵.
struct Exponential {
  Wide value;
  int k = 0;
};

/// |x| ≤ 800.
[[nodiscard]] Exponential exponential(Wide x);

/// log x for finite x > 0.
[[nodiscard]] Wide logarithm(double x);

/// log(1 + f) for f > −1 below 2^500 that is not subnormal.
[[nodiscard]] Wide logarithm_of_one_plus(Wide f);

/// The angle in [0, π/2] whose tangent is y/x; x and y not negative and not both 0.
[[nodiscard]] Wide angle(Wide y, Wide x);

/// With the sign of `sign`.
[[nodiscard]] inline double with_sign(double magnitude, double sign) {
  return std::signbit(sign) ? -magnitude : magnitude;
}

}  // namespace driftscope::portable
