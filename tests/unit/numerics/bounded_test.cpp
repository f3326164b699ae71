// Each operation of Bounded covers float32's result, and no more than necessary.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/base/float_bits.hpp"
#include "core/base/rng.hpp"
#include "core/numerics/bounded.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::bounded_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Floats of all sizes, often close to one another or special.
float any_float(Rng& rng) {
  switch (rng.below(8)) {
    case 0: return 0.0f;
    case 1: return static_cast<float>(rng.below(5)) - 2.0f;
    case 2: return rng.normal() * 1e-38f;
    case 3: return rng.normal() * 1e37f;
    default: return std::ldexp(rng.normal(), static_cast<int>(rng.below(40)) - 20);
  }
}

// A Bounded, and a float that an implementation may have instead.
struct Pair {
  Bounded bounded;
  float held;
};

Pair any_pair(Rng& rng) {
  const float held = any_float(rng);
  if (rng.below(2) == 0) return {Bounded(static_cast<double>(held)), held};
  const double error = std::fabs(static_cast<double>(any_float(rng))) * 1e-6;
  const double value = static_cast<double>(held) + (rng.below(2) == 0 ? error : -error);
  const double bound = error + 1e-15 * std::fabs(value);  // the difference itself was rounded
  return {Bounded(value, bound, bound), held};
}

bool covers(const Bounded& b, float held) {
  if (b.worst == inf) return true;
  if (std::isnan(b.value) || std::isnan(held)) return std::isnan(b.value) && std::isnan(held);
  if (std::isinf(held)) {
    const double towards = held > 0 ? b.value : -b.value;
    return towards + b.worst >= 0x1.ffffffp127;
  }
  return std::fabs(static_cast<double>(held) - b.value) <= b.worst;
}

}  // namespace

TEST_CASE("Bounded_EveryOperation_CoversFloat32") {
  const std::uint64_t seed = test::test_seed(11);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int i = 0; i < repetitions(300000); ++i) {
    const Pair a = any_pair(rng);
    const Pair b = any_pair(rng);
    INFO("a " << a.bounded.value << " ± " << a.bounded.worst << " held " << a.held);
    INFO("b " << b.bounded.value << " ± " << b.bounded.worst << " held " << b.held);
    const auto check = [&](const char* what, const Bounded& bound, float held) {
      if (!covers(bound, held))
        FAIL(what << ": " << bound.value << " ± " << bound.worst << " does not cover " << held);
      if (!(bound.likely <= bound.worst)) FAIL(what << ": likely beyond worst");
    };
    check("+", a.bounded + b.bounded, a.held + b.held);
    check("-", a.bounded - b.bounded, a.held - b.held);
    check("*", a.bounded * b.bounded, a.held * b.held);
    check("/", a.bounded / b.bounded, a.held / b.held);
    check("sqrt", sqrt(a.bounded), std::sqrt(a.held));
    check("negate", -a.bounded, -a.held);
    check("abs", abs(a.bounded), std::fabs(a.held));
    check("max", max(a.bounded, b.bounded), std::fmax(a.held, b.held));
    check("min", min(a.bounded, b.bounded), std::fmin(a.held, b.held));
    check("exp", exp(a.bounded), std::exp(a.held));
    check("tanh", tanh(a.bounded), std::tanh(a.held));
    check("sigmoid", sigmoid(a.bounded), 1.0f / (1.0f + std::exp(-a.held)));
  }
}

TEST_CASE("Bounded_EveryFunction_CoversFloat32" * doctest::test_suite("slow")) {
  const std::uint64_t seed = test::test_seed(13);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int i = 0; i < repetitions(200000); ++i) {
    const Pair a = any_pair(rng);
    const Pair b = any_pair(rng);
    const float x = a.held;
    INFO("a " << a.bounded.value << " ± " << a.bounded.worst << " held " << x);
    INFO("b " << b.bounded.value << " ± " << b.bounded.worst << " held " << b.held);
    const auto check = [&](const char* what, const Bounded& bound, float held) {
      if (!covers(bound, held))
        FAIL(what << ": " << bound.value << " ± " << bound.worst << " does not cover " << held);
      if (!(bound.likely <= bound.worst)) FAIL(what << ": likely beyond worst");
    };
    check("log", log(a.bounded), std::log(x));
    check("log1p", log1p(a.bounded), std::log1p(x));
    check("log(1 + x)", log1p(a.bounded), std::log(1.0f + x));
    check("expm1", expm1(a.bounded), std::expm1(x));
    check("exp - 1", expm1(a.bounded), std::exp(x) - 1.0f);
    check("softplus", softplus(a.bounded), std::fmax(x, 0.0f) + std::log1p(std::exp(-std::fabs(x))));
    if (x < 80.0f) check("naive softplus", softplus(a.bounded), std::log(1.0f + std::exp(x)));
    check("sinh", sinh(a.bounded), std::sinh(x));
    check("cosh", cosh(a.bounded), std::cosh(x));
    check("asinh", asinh(a.bounded), std::asinh(x));
    check("acosh", acosh(a.bounded), std::acosh(x));
    check("atanh", atanh(a.bounded), std::atanh(x));
    check("sin", sin(a.bounded), std::sin(x));
    check("cos", cos(a.bounded), std::cos(x));
    check("tan", tan(a.bounded), std::tan(x));
    check("asin", asin(a.bounded), std::asin(x));
    check("acos", acos(a.bounded), std::acos(x));
    check("atan", atan(a.bounded), std::atan(x));
    check("erf", erf(a.bounded), std::erf(x));
    check("pow", pow(a.bounded, b.bounded), std::pow(x, b.held));
    check("square", pow(a.bounded, Bounded(2.0)), x * x);
    check("cube", pow(a.bounded, Bounded(3.0)), x * x * x);
  }
}

TEST_CASE("Bounded_Functions_NearTheEndOfTheirDomain") {
  CHECK(std::isnan(log(Bounded(-1.0)).value));
  CHECK(log(Bounded(-1.0)).worst == 0.0);
  CHECK(log(Bounded(0.0)).value == -inf);
  CHECK(log(Bounded(0.0)).worst == 0.0);
  CHECK(log(Bounded(1e-9, 1e-8, 1e-8)).worst == inf);  // a number or NaN
  CHECK(std::isnan(acos(Bounded(2.0)).value));
  CHECK(acos(Bounded(2.0)).worst == 0.0);
  CHECK(acos(Bounded(1.0, 1e-7, 1e-7)).worst == inf);
  CHECK(acosh(Bounded(1.0)).worst < 1e-30);
  CHECK(sinh(Bounded(89.0)).worst == inf);  // e⁸⁹ is beyond float32's range, half of it is not
  CHECK(cosh(Bounded(-89.0)).worst == inf);
  CHECK(cosh(Bounded(88.0)).worst < 1e33);
  CHECK(atanh(Bounded(1.0)).value == inf);
  CHECK(tan(Bounded(1.5707, 1e-3, 1e-3)).worst == inf);  // a pole within the error
  CHECK(tan(Bounded(1.5, 1e-3, 1e-3)).worst < 1.0);
  CHECK(sin(Bounded(1e6, 10.0, 10.0)).worst < 2.1);
  CHECK(std::isnan(pow(Bounded(-2.0), Bounded(0.5)).value));
  CHECK(pow(Bounded(-2.0), Bounded(0.5)).worst == 0.0);
  CHECK(pow(Bounded(-2.0), Bounded(3.0)).worst < 1e-5);
  CHECK(pow(Bounded(1e-9, 1e-8, 1e-8), Bounded(0.5)).worst == inf);
  CHECK(pow(Bounded(0.0, 0.5, 0.5), Bounded(2.0)).worst == doctest::Approx(0.25));
}

TEST_CASE("Bounded_OneOperationOnExactFloats_IsHalfAnUlp") {
  const std::uint64_t seed = test::test_seed(12);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int i = 0; i < repetitions(100000); ++i) {
    const float a = any_float(rng);
    const float b = any_float(rng);
    const Bounded sum = Bounded(static_cast<double>(a)) + Bounded(static_cast<double>(b));
    if (sum.value == 0.0) {
      CHECK(sum.worst == 0.0);
      continue;
    }
    // One float further is an error.
    const float right = a + b;
    // Below a power of two the spacing is half of what the half ULP there allows.
    int exponent = 0;
    if (std::fabs(right) > 3e38f || std::fabs(std::frexp(right, &exponent)) == 0.5f) continue;
    const float wrong = std::nextafter(right, right < 0 ? 1.0f : -1.0f);
    const bool tie = std::fabs(static_cast<double>(wrong) - sum.value) ==
                     std::fabs(static_cast<double>(right) - sum.value);
    if (!tie && covers(sum, wrong)) FAIL("an error of one ULP is covered at " << a << " + " << b);
  }
}

TEST_CASE("Bounded_ExactOperations_StayExact") {
  CHECK((Bounded(3.0) - Bounded(3.0)).worst == 0.0);
  CHECK((Bounded(0.0) * Bounded(3.0)).worst == 0.0);
  CHECK(max(Bounded(2.0), Bounded(1.0)).worst == 0.0);
  // An argument that clearly loses does not contribute its error.
  CHECK(max(Bounded(2.0), Bounded(1.0, 0.5, 0.5)).worst == 0.0);
  CHECK(max(Bounded(2.0), Bounded(1.9, 0.5, 0.5)).worst == 0.5);
  CHECK(min(Bounded(2.0), Bounded(2.1, 0.5, 0.25)).likely == 0.25);
  // Two subnormal numbers are equal for an engine that takes them for 0.
  CHECK(min(Bounded(-4e-39), Bounded(8e-39)).worst == 0.0);
  ErrorModel flushing;
  flushing.flushes_subnormals = true;
  const ErrorModelScope scope(flushing);
  CHECK(min(Bounded(-4e-39), Bounded(8e-39)).worst >= 1.19e-38);
  CHECK(max(Bounded(-4e-39), Bounded(1.0)).worst == 0.0);
}

TEST_CASE("Bounded_InfinityAndNaN_AreSureWhereTheyMustBe") {
  CHECK(std::isnan((Bounded(inf) - Bounded(inf)).value));
  CHECK((Bounded(inf) - Bounded(inf)).worst == 0.0);
  CHECK((Bounded(inf) + Bounded(1.0, 0.1, 0.1)).value == inf);
  CHECK((Bounded(inf) + Bounded(1.0, 0.1, 0.1)).worst == 0.0);
  CHECK((Bounded(inf) * Bounded(1.0, 0.1, 0.1)).worst == 0.0);
  CHECK((Bounded(inf) * Bounded(1.0, 2.0, 2.0)).worst == inf);  // ∞ · something about 0
  CHECK(std::isnan((Bounded(0.0) / Bounded(0.0)).value));
  CHECK((Bounded(0.0) / Bounded(0.0)).worst == 0.0);
  CHECK((Bounded(1.0) / Bounded(0.0)).value == inf);
  CHECK((Bounded(1.0) / Bounded(1e-9, 1e-8, 1e-8)).worst == inf);
  CHECK((Bounded(1.0) / Bounded(inf)).value == 0.0);
  CHECK((Bounded(1.0) / Bounded(inf)).worst == 0.0);
  CHECK(std::isnan(sqrt(Bounded(-1.0)).value));
  CHECK(sqrt(Bounded(-1.0)).worst == 0.0);
  CHECK(sqrt(Bounded(1e-9, 1e-8, 1e-8)).worst == inf);  // NaN or not
  CHECK(std::isnan(max(Bounded(not_a_number), Bounded(1.0)).value));
  CHECK(std::isnan(exp(Bounded(not_a_number)).value));
  CHECK(exp(Bounded(not_a_number)).worst == 0.0);
  CHECK(exp(Bounded(-inf)).value == 0.0);
  CHECK(sigmoid(Bounded(-inf)).value == 0.0);
  CHECK(tanh(Bounded(inf)).value == 1.0);
  // A finite number beyond the float range may be infinite there.
  CHECK((Bounded(1.0) / Bounded(1e39)).worst >= 1e-39);
  CHECK((Bounded(1e20) * Bounded(1e20)).worst < inf);  // the result itself is still judged
}

TEST_CASE("ErrorModel_ScopesNestAndRestore") {
  const double usual = current_error_model().unit_roundoff;
  CHECK(usual == 0x1p-24);
  ErrorModel coarse;
  coarse.unit_roundoff = 0x1p-10;
  {
    const ErrorModelScope scope(coarse);
    CHECK(current_error_model().unit_roundoff == 0x1p-10);
    {
      const ErrorModelScope inner(error_model_for(coarse, DType::float16));
      CHECK(current_error_model().largest == 65504.0);
    }
    CHECK(current_error_model().unit_roundoff == 0x1p-10);
  }
  CHECK(current_error_model().unit_roundoff == usual);
}

TEST_CASE("ErrorModel_Lambda_GrowsWithTermsAndElements") {
  ErrorModel model;
  // √(2·ln(2·100·1/10⁻⁹))
  CHECK(model.lambda(100) == doctest::Approx(7.2142).epsilon(1e-4));
  model.elements = 1000;
  CHECK(model.lambda(100) == doctest::Approx(8.1154).epsilon(1e-4));
}

TEST_CASE("ErrorModel_HalfPrecision_CoversRoundingToIt") {
  const ErrorModelScope scope(error_model_for(ErrorModel{}, DType::float16));
  const Bounded sum = Bounded(1.0) + Bounded(0x1p-12);
  CHECK(sum.worst >= 0x1p-12);
  CHECK(sum.worst < 0x1p-10);
}

}  // namespace driftscope::test::bounded_test
