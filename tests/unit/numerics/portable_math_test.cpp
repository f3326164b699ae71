// The functions of binary64 against long double, on random and on extreme arguments, natively and as
// WebAssembly.
#include "core/numerics/portable_math.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/rng.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::portable_math_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// The long double of x86 has eleven bits more. Elsewhere its functions are not a reference: musl's sinhl is
// its sinh, its acosh is finite below 1. There FixedBits shows that ours are those measured here.
constexpr bool library_is_exact = std::numeric_limits<long double>::digits == 64;
constexpr double library_error = 0.001;

bool cannot_measure() {
  if (library_is_exact) return false;
  MESSAGE("not measured: this host has no functions of higher precision, see FixedBits");
  return true;
}

double ulp_error(double got, long double want) {
  int exponent = 0;
  std::frexp(want, &exponent);
  const long double ulp = std::ldexp(1.0L, std::max(exponent - 53, -1074));
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / ulp);
}

struct Function {
  const char* name;
  double (*ours)(double);
  long double (*exact)(long double);
  double limit;  ///< in ULP
  double low;    ///< half of the arguments are uniform between these
  double high;
};

long double exact_sigmoid(long double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
long double exact_softplus(long double x) { return (x > 0 ? x : 0) + std::log1p(std::exp(-std::fabs(x))); }

#define EXACT(f) [](long double x) -> long double { return std::f(x); }
const Function functions[] = {
    {"exp", portable::exp, EXACT(exp), 0.80, -745, 710},
    {"expm1", portable::expm1, EXACT(expm1), 0.90, -2, 2},
    {"log", portable::log, EXACT(log), 0.51, 0, 4},
    {"log1p", portable::log1p, EXACT(log1p), 0.51, -1, 4},
    {"sinh", portable::sinh, EXACT(sinh), 0.80, -3, 3},
    {"cosh", portable::cosh, EXACT(cosh), 0.80, -3, 3},
    {"tanh", portable::tanh, EXACT(tanh), 0.80, -3, 3},
    {"asinh", portable::asinh, EXACT(asinh), 0.51, -3, 3},
    {"acosh", portable::acosh, EXACT(acosh), 0.51, 1, 4},
    {"atanh", portable::atanh, EXACT(atanh), 0.51, -1, 1},
    {"sin", portable::sin, EXACT(sin), 0.80, -20, 20},
    {"cos", portable::cos, EXACT(cos), 0.80, -20, 20},
    {"tan", portable::tan, EXACT(tan), 0.90, -20, 20},
    {"asin", portable::asin, EXACT(asin), 0.51, -1, 1},
    {"acos", portable::acos, EXACT(acos), 0.51, -1, 1},
    {"atan", portable::atan, EXACT(atan), 0.51, -10, 10},
    {"erf", portable::erf, EXACT(erf), 0.60, -6, 6},
    {"sigmoid", portable::sigmoid, exact_sigmoid, 2.0, -40, 40},
    {"softplus", portable::softplus, exact_softplus, 1.4, -40, 40},
};
#undef EXACT

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

// NaN for NaN, infinities and signs as they are, and near the exact result.
void check(const Function& f, double x, double& worst) {
  const double got = f.ours(x);
  const long double want = f.exact(static_cast<long double>(x));
  const auto rounded = static_cast<double>(want);
  INFO(fmt::format("{}({:a}) is {:a}, wanted {:a}", f.name, x, got, rounded));
  if (std::isnan(rounded)) {
    if (!std::isnan(got)) FAIL_CHECK("not NaN");
    return;
  }
  if (std::isinf(rounded) || std::isinf(got)) {
    // On the last number before the border either is allowed.
    if (got != rounded && std::fabs(want) < 0x1.ffffffffffffcp1023L) FAIL_CHECK("not infinite");
    return;
  }
  if (got != 0.0 && std::signbit(got) != std::signbit(rounded)) FAIL_CHECK("other sign");
  const double error = ulp_error(got, want);
  worst = std::fmax(worst, error);
  if (error > f.limit + library_error) FAIL_CHECK(error << " ULP");
}

// Borders between formulas, and where results overflow, vanish or are hard to reduce; with both
// neighbours of each.
std::vector<double> extreme_points() {
  std::vector<double> points = {
      0.0, 0x1p-1074, 0x1p-1022, 0x1p-54, 0x1p-30, 0x1p-28, 0x1p-27, 0.125, 0.25, 0.34, 0.35, 0.40625, 0.41,
      0.4375, 0.5, 0.70710678118654757, 0.78539816339744828, 0.99999999999999989, 1.0, 1.0000000000000002,
      1.5, 1.5707963267948966, 2.0, 3.1415926535897931, 5.75, 5.875, 6.0, 22.0, 40.0, 709.78271289338397,
      709.79, 710.47586007394386, 710.48, 745.0, 745.13, 0x1p27, 0x1p53, 0x1p60, 0x1p61, 0x1p500, 0x1p1000,
      // the double nearest to a multiple of π/2 (Muller, Elementary Functions)
      0x1.6ac5b262ca1ffp849, 0x1.fffffffffffffp1023, infinity, nan};
  const std::size_t count = points.size();
  for (std::size_t i = 0; i < count; ++i)
    for (const double x : {std::nextafter(points[i], infinity), std::nextafter(points[i], -infinity)})
      points.push_back(x);
  return points;
}

}  // namespace

TEST_CASE("PortableMath_RandomArguments_WithinTheStatedError") {
  if (cannot_measure()) return;
  const std::uint64_t seed = test::test_seed(31);
  SEED_INFO(seed);
  for (const Function& f : functions) {
    Rng rng(seed);
    double worst = 0.0;
    for (int i = 0; i < 60000; ++i) {
      const double unit = static_cast<double>(rng.next() >> 11) * 0x1p-53;
      // Half in the usual range, a quarter with random bits, a quarter of any size.
      double x = f.low + (f.high - f.low) * unit;
      if (i % 4 == 1) x = std::bit_cast<double>(rng.next());
      if (i % 4 == 3) x = std::ldexp(x, static_cast<int>(rng.below(60)) - 55);
      check(f, x, worst);
    }
    MESSAGE(fmt::format("{:<9} {:.4f} ULP", f.name, worst));
  }
}

TEST_CASE("PortableMath_ExtremeArguments_WithinTheStatedError") {
  if (cannot_measure()) return;
  for (const Function& f : functions) {
    double worst = 0.0;
    for (const double x : extreme_points())
      for (const double signed_x : {x, -x}) check(f, signed_x, worst);
  }
}

TEST_CASE("PortableMath_OddFunctions_KeepTheSignOfZero") {
  for (const auto f :
       {portable::expm1, portable::log1p, portable::sinh, portable::tanh, portable::asinh, portable::atanh,
        portable::sin, portable::tan, portable::asin, portable::atan, portable::erf}) {
    CHECK(bits(f(0.0)) == bits(0.0));
    CHECK(bits(f(-0.0)) == bits(-0.0));
  }
}

TEST_CASE("PortableMath_Pow_WithinTheStatedErrorAndAsIeee754") {
  if (cannot_measure()) return;
  const std::uint64_t seed = test::test_seed(32);
  SEED_INFO(seed);
  Rng rng(seed);
  double worst = 0.0;
  const auto compare = [&](double x, double y) {
    const double got = portable::pow(x, y);
    const long double want = std::pow(static_cast<long double>(x), static_cast<long double>(y));
    const auto rounded = static_cast<double>(want);
    INFO(fmt::format("pow({:a}, {:a}) is {:a}, wanted {:a}", x, y, got, rounded));
    if (std::isnan(rounded) || std::isnan(got)) {
      if (std::isnan(rounded) != std::isnan(got)) FAIL_CHECK("NaN");
      return;
    }
    if (std::isinf(rounded) || std::isinf(got) || rounded == 0.0) {
      if (bits(got) != bits(rounded) && std::fabs(want) < 0x1.ffffffffffffcp1023L &&
          std::fabs(want) > 0x1p-1075L)
        FAIL_CHECK("special");
      return;
    }
    const double error = ulp_error(got, want);
    worst = std::fmax(worst, error);
    if (error > 0.80 + library_error) FAIL_CHECK(error << " ULP");
  };
  for (int i = 0; i < 100000; ++i) {
    const double unit = static_cast<double>(rng.next() >> 11) * 0x1p-53;
    double x = std::ldexp(1.0 + unit, static_cast<int>(rng.below(40)) - 20);
    const double power = (static_cast<double>(rng.next() >> 11) * 0x1p-53 - 0.5) * 100;
    if (i % 4 == 1) x = 1.0 + (unit - 0.5) * 0x1p-20;  // then the logarithm is hard
    const double y = i % 4 == 1 ? power * 0x1p24 : i % 4 == 2 ? std::floor(power) : power;
    compare(i % 8 == 2 ? -x : x, y);
    if (i % 4 == 3) compare(std::bit_cast<double>(rng.next()), std::bit_cast<double>(rng.next()));
  }
  MESSAGE(fmt::format("pow {:.4f} ULP", worst));
  const std::vector<double> special = {0.0, 0x1p-1074,  0.5,    1.0,      1.5,      2.0, 3.0,
                                       4.0, 0x1p52 + 1, 0x1p53, 0x1p1023, infinity, nan};
  for (const double x : special)
    for (const double y : special)
      for (const double sx : {x, -x})
        for (const double sy : {y, -y}) compare(sx, sy);
}

// The same on every compiler and host: a change here is a change of every bit that depends on it.
TEST_CASE("PortableMath_FixedBits") {
  Rng rng(8);
  std::uint64_t hash = 0xcbf29ce484222325ull;
  const auto mix = [&](double x) {
    hash = (hash ^ (x != x ? 0x7ff8000000000000ull : bits(x))) * 0x100000001b3ull;
  };
  for (int i = 0; i < 4000; ++i) {
    const double unit = static_cast<double>(rng.next() >> 11) * 0x1p-53;
    const double any = std::bit_cast<double>(rng.next());
    for (const Function& f : functions) {
      mix(f.ours(f.low + (f.high - f.low) * unit));
      mix(f.ours(any));
    }
    mix(portable::pow(unit * 10, 7.3 - 10 * unit));
    mix(portable::pow(any, std::bit_cast<double>(rng.next())));
  }
  for (const double x : extreme_points())
    for (const Function& f : functions) {
      mix(f.ours(x));
      mix(f.ours(-x));
    }
  CHECK(hash == 9916780197879375934ull);
}

}  // namespace driftscope::test::portable_math_test
