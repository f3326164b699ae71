#include "core/verify/narrow_factors.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace driftscope {
namespace {

// To nearest even, dropping `cut` bits; a carry into the exponent is correct, also into infinity.
template <int cut>
float to_nearest(float x) {
  if (!std::isfinite(x)) return x;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  constexpr std::uint32_t below = (1u << (cut - 1)) - 1;
  return std::bit_cast<float>((bits + below + ((bits >> cut) & 1u)) & ~((1u << cut) - 1));
}

template <int cut>
float towards_zero(float x) {
  if (!std::isfinite(x)) return x;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & ~((1u << cut) - 1));
}

float to_half(float x) {
  constexpr float smallest_normal = 0x1p-14f;
  if (!(std::fabs(x) < smallest_normal)) {
    const float nearest = to_nearest<13>(x);
    return std::fabs(nearest) > 65504.0f ? std::copysign(std::numeric_limits<float>::infinity(), x) : nearest;
  }
  constexpr float shift = 0.75f;  // its unit in the last place is 2⁻²⁴, as that of small halves
  return std::copysign((std::fabs(x) + shift) - shift, x);
}

template <class Body>
void with_rounding(NarrowFormat format, const Body& body) {
  switch (format) {
    case NarrowFormat::tf32: return body([](float x) { return to_nearest<13>(x); });
    case NarrowFormat::tf32_cut: return body([](float x) { return towards_zero<13>(x); });
    case NarrowFormat::float16: return body([](float x) { return to_half(x); });
    case NarrowFormat::bfloat16: return body([](float x) { return to_nearest<16>(x); });
    case NarrowFormat::bfloat16_cut: return body([](float x) { return towards_zero<16>(x); });
  }
}

// The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

}  // namespace

std::string_view narrow_format_text(NarrowFormat format) {
  switch (format) {
    case NarrowFormat::tf32: return "10 bits (TF32)";
    case NarrowFormat::tf32_cut: return "10 bits towards zero (TF32)";
    case NarrowFormat::float16: return "10 bits (float16)";
    case NarrowFormat::bfloat16: return "7 bits (bfloat16)";
    default: return "7 bits towards zero (bfloat16)";
  }
}

float rounded_to(NarrowFormat format, float x) {
  float result = x;
  with_rounding(format, [&](auto round) { result = round(x); });
  return result;
}

FactorErrors factor_errors(const ProductTerms& terms, NarrowFormat format) {
  FactorErrors sum;
  with_rounding(format, [&](auto round) {
    for (std::size_t k = 0; k < terms.a.size(); ++k) {
      const auto a = static_cast<double>(terms.a[k]);
      const auto b = static_cast<double>(terms.b[k]);
      const double off_a = static_cast<double>(round(terms.a[k])) - a;
      const double off_b = static_cast<double>(round(terms.b[k])) - b;
      sum.first += off_a * b;
      sum.second += a * off_b;
      sum.crossed += off_a * off_b;
    }
  });
  return sum;
}

double error_of(const FactorErrors& errors, RoundedFactors which) {
  if (which == RoundedFactors::first) return errors.first;
  if (which == RoundedFactors::second) return errors.second;
  return errors.first + errors.second + errors.crossed;
}

std::array<double, placebos> placebo_errors(const ProductTerms& terms, NarrowFormat format,
                                            RoundedFactors which) {
  std::array<double, placebos> sums{};
  const auto add = [&](float x, double error, std::uint64_t salt) {
    if (error == 0.0) return;
    const std::uint64_t signs = mixed(std::bit_cast<std::uint32_t>(x) ^ salt);
    for (std::size_t i = 0; i < placebos; ++i) sums[i] += (signs >> i & 1) != 0 ? error : -error;
  };
  with_rounding(format, [&](auto round) {
    for (std::size_t k = 0; k < terms.a.size(); ++k) {
      const auto a = static_cast<double>(terms.a[k]);
      const auto b = static_cast<double>(terms.b[k]);
      if (which != RoundedFactors::second)
        add(terms.a[k], (static_cast<double>(round(terms.a[k])) - a) * b, 0);
      if (which != RoundedFactors::first)
        add(terms.b[k], a * (static_cast<double>(round(terms.b[k])) - b), std::uint64_t{1} << 40);
    }
  });
  return sums;
}

}  // namespace driftscope
