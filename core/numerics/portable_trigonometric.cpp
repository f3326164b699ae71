// sin, cos, tan and their inverses of portable_math.hpp.
#include <array>

#include "core/numerics/portable_math.hpp"
#include "core/numerics/portable_parts.hpp"

namespace driftscope::portable {
namespace {

constexpr Wide half_pi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
constexpr Wide pi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};

// atan(k/8); tools/math/portable_math_constants.py.
constexpr std::array<Wide, 9> atan_eighths = {{
    {0.0, 0.0},
    {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
    {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
    {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
    {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
    {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
    {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
    {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
    {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
}};

// The bits of 2/π after the binary point, 32 at a time.
constexpr std::array<std::uint32_t, 38> two_over_pi = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab};

// |x| = quadrant·π/2 + rest, |rest| ≤ π/4, the quadrant modulo 4.
struct Reduced {
  unsigned quadrant = 0;
  Wide rest;
};

// 320 bits, the first word the highest.
using Bits = std::array<std::uint32_t, 10>;

Bits shifted_left(const Bits& x, unsigned count) {
  Bits result{};
  const std::size_t words = count / 32;
  const unsigned bits = count % 32;
  for (std::size_t i = 0; i + words < x.size(); ++i) {
    const std::uint64_t upper = x[i + words];
    const std::uint64_t lower = i + words + 1 < x.size() ? x[i + words + 1] : 0;
    result[i] = static_cast<std::uint32_t>((((upper << 32) | lower) << bits) >> 32);
  }
  return result;
}

Bits negated(const Bits& x) {
  Bits result{};
  std::uint64_t carry = 1;
  for (std::size_t i = x.size(); i-- > 0;) {
    carry += static_cast<std::uint32_t>(~x[i]);
    result[i] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  return result;
}

// A fraction in [0, 1) to 106 significant bits.
Wide fraction(const Bits& x) {
  unsigned zeros = 0;
  while (zeros < 300 && (x[zeros / 32] >> (31 - zeros % 32) & 1) == 0) ++zeros;
  const Bits top = shifted_left(x, zeros);
  const std::uint64_t first = (std::uint64_t{top[0]} << 32) | top[1];
  const std::uint64_t second = (std::uint64_t{top[2]} << 32) | top[3];
  const double scale = power_of_two(-static_cast<int>(zeros));
  const double high = static_cast<double>(first >> 11) * 0x1p-53 * scale;
  const double low = static_cast<double>(((first & 0x7ff) << 42) | (second >> 22)) * 0x1p-106 * scale;
  return quick_sum(high, low);
}

// Payne and Hanek 1983. a = m·2ᵉ with an integer m of 53 bits; uses those 256 bits of 2/π whose
// product with a is not a multiple of 4 and reaches 170 bits behind the point: a double comes no nearer
// to a multiple of π/2 than 2⁻⁶².
Reduced reduce(double a) {
  if (a <= 0x1.921fb54442d18p-1) return {0, a};
  const auto bits = std::bit_cast<std::uint64_t>(a);
  const int e = static_cast<int>(bits >> 52) - 1075;
  const std::uint64_t m = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
  const int first = e >= 2 ? (e - 2) / 32 : 0;
  Bits product{};
  for (std::size_t i = 8; i-- > 0;) {
    const std::uint64_t word = two_over_pi[static_cast<std::size_t>(first) + i];
    // Its word in the product, and the two above it.
    std::uint64_t carry = word * (m & 0xffffffffu) + product[i + 2];
    product[i + 2] = static_cast<std::uint32_t>(carry);
    carry = (carry >> 32) + word * (m >> 32) + product[i + 1];
    product[i + 1] = static_cast<std::uint32_t>(carry);
    product[i] += static_cast<std::uint32_t>(carry >> 32);
  }
  // The two bits before the point become the most significant ones.
  const int behind_point = 32 * (first + 8) - e;
  const Bits aligned = shifted_left(product, static_cast<unsigned>(320 - 2 - behind_point));
  const unsigned quadrant = aligned[0] >> 30;
  const Bits rest = shifted_left(aligned, 2);
  if ((rest[0] >> 31) == 0) return {quadrant, fraction(rest) * half_pi};
  return {(quadrant + 1) & 3, -(fraction(negated(rest)) * half_pi)};
}

// |r| ≤ π/4; a relative error of 2⁻⁵⁵.
Wide kernel_sin(Wide r) {
  constexpr std::array<double, 9> coefficients = {-1.0 / 121645100408832000.0,
                                                  1.0 / 355687428096000.0,
                                                  -1.0 / 1307674368000.0,
                                                  1.0 / 6227020800.0,
                                                  -1.0 / 39916800.0,
                                                  1.0 / 362880.0,
                                                  -1.0 / 5040.0,
                                                  1.0 / 120.0,
                                                  -1.0 / 6.0};
  const double z = r.high * r.high;
  double sum = 0.0;
  for (const double c : coefficients) sum = sum * z + c;
  return quick_sum(r.high, r.high * z * sum + r.low * (1.0 - 0.5 * z));
}

Wide kernel_cos(Wide r) {
  constexpr std::array<double, 8> coefficients = {
      -1.0 / 6402373705728000.0, 1.0 / 20922789888000.0, -1.0 / 87178291200.0, 1.0 / 479001600.0,
      -1.0 / 3628800.0,          1.0 / 40320.0,          -1.0 / 720.0,         1.0 / 24.0};
  const Wide z = exact_product(r.high, r.high);
  double sum = 0.0;
  for (const double c : coefficients) sum = sum * z.high + c;
  const Wide start = exact_sum(1.0, -0.5 * z.high);
  const double tail = z.high * z.high * sum - 0.5 * z.low - r.high * r.low;
  return quick_sum(start.high, start.low + tail);
}

// sin or cos by the quadrant; a negative result for the quadrants 2 and 3.
double by_quadrant(unsigned quadrant, Wide rest) {
  const double value = (quadrant % 2 == 0 ? kernel_sin(rest) : kernel_cos(rest)).rounded();
  return quadrant % 4 >= 2 ? -value : value;
}

}  // namespace

double sin(double x) {
  const double a = std::fabs(x);
  if (a < tiny) return x;
  if (!(a < infinity)) return not_a_number;
  const auto [quadrant, rest] = reduce(a);
  const double value = by_quadrant(quadrant, rest);
  return std::signbit(x) ? -value : value;
}

double cos(double x) {
  const double a = std::fabs(x);
  if (a < tiny) return 1.0;
  if (!(a < infinity)) return not_a_number;
  const auto [quadrant, rest] = reduce(a);
  return by_quadrant(quadrant + 1, rest);
}

double tan(double x) {
  const double a = std::fabs(x);
  if (a < tiny) return x;
  if (!(a < infinity)) return not_a_number;
  const auto [quadrant, rest] = reduce(a);
  const Wide sine = kernel_sin(rest);
  const Wide cosine = kernel_cos(rest);
  const double value = (quadrant % 2 == 0 ? sine / cosine : -cosine / sine).rounded();
  return std::signbit(x) ? -value : value;
}

Wide angle(Wide y, Wide x) {
  if (y.high > x.high) return half_pi - angle(x, y);
  // atan(y/x) = atan(k/8) + atan(t), |t| ≤ 1/16
  const auto k = static_cast<std::size_t>(y.high / x.high * 8.0 + 0.5);
  const double c = static_cast<double>(k) * 0.125;
  const Wide t = k == 0 ? y / x : (y - x * c) / (x + y * c);
  constexpr std::array<double, 8> coefficients = {1.0 / 17.0, -1.0 / 15.0, 1.0 / 13.0, -1.0 / 11.0,
                                                  1.0 / 9.0,  -1.0 / 7.0,  1.0 / 5.0,  -1.0 / 3.0};
  const double z = t.high * t.high;
  double sum = 0.0;
  for (const double coefficient : coefficients) sum = sum * z + coefficient;
  return atan_eighths[k] + (t + t.high * z * sum);
}

double atan(double x) {
  const double a = std::fabs(x);
  if (x != x || a < tiny) return x;
  if (a > 0x1p60) return with_sign(half_pi.high, x);
  return with_sign(angle(a, 1.0).rounded(), x);
}

double asin(double x) {
  const double a = std::fabs(x);
  if (x != x || a < tiny) return x;
  if (a > 1.0) return not_a_number;
  if (a == 1.0) return with_sign(half_pi.high, x);
  const Wide cosine = sqrt(exact_sum(1.0, -a) * exact_sum(1.0, a));
  return with_sign(angle(a, cosine).rounded(), x);
}

double acos(double x) {
  const double a = std::fabs(x);
  if (x != x) return x;
  if (a > 1.0) return not_a_number;
  if (a == 1.0) return x > 0.0 ? 0.0 : pi.high;
  if (a < 0x1p-60) return half_pi.high;
  const Wide sine = sqrt(exact_sum(1.0, -a) * exact_sum(1.0, a));
  const Wide result = angle(sine, a);
  return (x > 0.0 ? result : pi - result).rounded();
}

}  // namespace driftscope::portable
