// A quick test of the strict functions natively and as WebAssembly; tests/bench/strict_math_all_floats.cpp
// tries every float.
#include "core/numerics/strict_math.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/float_bits.hpp"
#include "core/base/rng.hpp"

namespace driftscope::test::strict_math_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

double exact_sigmoid(double x) {
  return x < 0 ? std::exp(x) / (1.0 + std::exp(x)) : 1.0 / (1.0 + std::exp(-x));
}

double ulp_error(float got, double want) {
  return std::abs(static_cast<double>(got) - want) / (2.0 * half_ulp_f32(want));
}

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

TEST_CASE("StrictMath_SpecialValues") {
  CHECK(strict_exp(0.0f) == 1.0f);
  CHECK(strict_exp(-0.0f) == 1.0f);
  CHECK(strict_exp(infinity) == infinity);
  CHECK(bits(strict_exp(-infinity)) == 0u);
  CHECK(strict_exp(0x1.62e42ep+6f) < infinity);  // the last finite one
  CHECK(strict_exp(0x1.62e430p+6f) == infinity);
  CHECK(std::isnan(strict_exp(nan)));
  CHECK(std::isnan(strict_exp(-nan)));

  CHECK(bits(strict_tanh(0.0f)) == 0u);
  CHECK(bits(strict_tanh(-0.0f)) == 0x80000000u);
  CHECK(strict_tanh(infinity) == 1.0f);
  CHECK(strict_tanh(-infinity) == -1.0f);
  CHECK(std::isnan(strict_tanh(nan)));

  CHECK(strict_sigmoid(0.0f) == 0.5f);
  CHECK(strict_sigmoid(infinity) == 1.0f);
  CHECK(bits(strict_sigmoid(-infinity)) == 0u);
  CHECK(std::isnan(strict_sigmoid(nan)));

  CHECK(bits(strict_erf(0.0f)) == 0u);
  CHECK(bits(strict_erf(-0.0f)) == 0x80000000u);
  CHECK(strict_erf(infinity) == 1.0f);
  CHECK(strict_erf(-infinity) == -1.0f);
  CHECK(std::isnan(strict_erf(nan)));
}

TEST_CASE("StrictMath_SubnormalsAreKept") {
  CHECK(strict_exp(-100.0f) == static_cast<float>(std::exp(-100.0)));
  CHECK(strict_exp(-0x1.9fe368p+6f) == 0x1p-149f);  // the last that does not round to 0
  CHECK(strict_tanh(0x1p-149f) == 0x1p-149f);
  CHECK(strict_tanh(-0x1.8p-140f) == -0x1.8p-140f);
  CHECK(ulp_error(strict_sigmoid(-95.0f), exact_sigmoid(-95.0)) < 2.0);
  CHECK(strict_sigmoid(-95.0f) > 0.0f);
  CHECK(strict_erf(0x1p-149f) == 0x1p-149f);
  CHECK(ulp_error(strict_erf(-0x1.8p-140f), std::erf(-0x1.8p-140)) < 1.0);
}

TEST_CASE("StrictMath_RandomBits_WithinTwoUlp") {
  constexpr std::uint64_t seed = 20261120;
  CAPTURE(seed);
  Rng rng(seed);
  double exp_worst = 0.0;
  double tanh_worst = 0.0;
  double sigmoid_worst = 0.0;
  double erf_worst = 0.0;
  for (int i = 0; i < 1'000'000; ++i) {
    // Half of them with random bits, half where the functions are not yet flat.
    float x = std::bit_cast<float>(static_cast<std::uint32_t>(rng.next()));
    if (i % 2 == 0) x = rng.uniform(-104.0f, 89.0f);
    if (i % 4 == 2) x = rng.uniform(-10.0f, 10.0f);
    if (std::isnan(x)) continue;
    const auto exact = static_cast<double>(x);
    if (x < 88.72f) exp_worst = std::max(exp_worst, ulp_error(strict_exp(x), std::exp(exact)));
    tanh_worst = std::max(tanh_worst, ulp_error(strict_tanh(x), std::tanh(exact)));
    sigmoid_worst = std::max(sigmoid_worst, ulp_error(strict_sigmoid(x), exact_sigmoid(exact)));
    const float near = x * 0.4f;
    erf_worst = std::max(erf_worst, ulp_error(strict_erf(near), std::erf(static_cast<double>(near))));
  }
  CHECK(exp_worst < 1.0);
  CHECK(tanh_worst < 1.0);
  CHECK(sigmoid_worst < 1.5);
  CHECK(erf_worst < 1.5);
}

TEST_CASE("StrictMath_FixedBits") {
  // The same on every compiler, host and instruction set: a change here is a change of the engine.
  Rng rng(7);
  constexpr std::uint64_t fnv_offset = 0xcbf29ce484222325ull;
  std::uint64_t hash = fnv_offset;
  std::uint64_t erf_hash = fnv_offset;
  const auto mix = [](std::uint64_t& into, float x) { into = (into ^ bits(x)) * 0x100000001b3ull; };
  for (int i = 0; i < 10'000; ++i) {
    const float x = rng.uniform(-104.0f, 89.0f);
    mix(hash, strict_exp(x));
    mix(hash, strict_tanh(x * 0.1f));
    mix(hash, strict_sigmoid(x));
    mix(erf_hash, strict_erf(x * 0.04f));
  }
  CHECK(hash == 0x71a24396c30bd99aull);
  CHECK(erf_hash == 0x331c590befa7707cull);
}

}  // namespace
}  // namespace driftscope::test::strict_math_test
