#include <doctest/doctest.h>

#include "core/base/half.hpp"
#include "core/base/rng.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::half_test {

TEST_CASE("Half_EveryNumber_SurvivesWideningAndNarrowing") {
  for (const SmallFloat format : {float16_format, bfloat16_format})
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const double x = widen(format, static_cast<std::uint16_t>(bits));
      if (std::isnan(x)) {
        CHECK(std::isnan(widen(format, narrow(format, x))));
      } else if (narrow(format, x) != bits) {
        FAIL("bits " << bits << " became " << narrow(format, x));
      }
    }
}

TEST_CASE("Half_KnownNumbers") {
  CHECK(widen(float16_format, 0x3c00) == 1.0);
  CHECK(widen(float16_format, 0x7bff) == 65504.0);
  CHECK(widen(float16_format, 0x0001) == 0x1p-24);
  CHECK(widen(float16_format, 0xc000) == -2.0);
  CHECK(widen(bfloat16_format, 0x3f80) == 1.0);
  CHECK(widen(bfloat16_format, 0x7f80) == std::numeric_limits<double>::infinity());
  CHECK(narrow(float16_format, 65519.999) == 0x7bff);
  CHECK(narrow(float16_format, 65520.0) == 0x7c00);  // the tie goes to infinity
  CHECK(narrow(float16_format, 0x1p-25) == 0x0000);  // a tie goes to even
  CHECK(narrow(float16_format, 0x1.8p-24) == 0x0002);
  CHECK(narrow(float16_format, -1e300) == 0xfc00);
  CHECK(narrow(float16_format, 2047.9999) == narrow(float16_format, 2048.0));
}

TEST_CASE("Half_NarrowingTakesTheNearest") {
  const std::uint64_t seed = test::test_seed(5);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int i = 0; i < 200000; ++i) {
    const double x = std::ldexp(static_cast<double>(rng.normal()), static_cast<int>(rng.below(46)) - 30);
    const std::uint16_t bits = narrow(float16_format, x);
    if ((bits & 0x7fff) >= 0x7bff || (bits & 0x7fff) == 0) continue;
    const double error = std::fabs(widen(float16_format, bits) - x);
    for (const int step : {-1, 1}) {
      const auto neighbour = static_cast<std::uint16_t>(bits + step);
      if (error > std::fabs(widen(float16_format, neighbour) - x)) FAIL("not the nearest of " << x);
    }
  }
}

}  // namespace driftscope::test::half_test
