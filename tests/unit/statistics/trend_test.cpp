#include <doctest/doctest.h>

#include <vector>

#include "core/base/rng.hpp"
#include "core/statistics/trend.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::trend_test {
namespace {

using doctest::Approx;

TEST_CASE("IsSteady_TooFewSlices_No") {
  CHECK_FALSE(is_steady(std::vector<double>(steady_window - 1, 1.0)));
  CHECK(is_steady(std::vector<double>(steady_window, 1.0)));
}

TEST_CASE("IsSteady_StillFalling_No") {
  std::vector<double> falling;
  for (int i = 0; i < 8; ++i) falling.push_back(100.0 - 5.0 * i);
  CHECK_FALSE(is_steady(falling));
  // A compiler's faster code starts in the middle of the window.
  CHECK_FALSE(is_steady(std::vector<double>{90, 91, 90, 91, 30, 31, 30, 31}));
}

TEST_CASE("IsSteady_NoiseAroundALevel_Yes") {
  CHECK(is_steady(std::vector<double>{90, 91, 30, 31, 30, 31, 30, 31, 30, 31}));
  CHECK(is_steady(std::vector<double>{1000, 1001, 1002, 1003, 1004, 1005, 1004, 1003}));
}

TEST_CASE("Slope_OfALine_IsExact") {
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < 20; ++i) {
    x.push_back(10.0 * i);
    y.push_back(7.0 + 3.0 * x.back());
  }
  const auto line = slope(x, y, 0.95);
  REQUIRE(line);
  CHECK(line->value == Approx(3.0));
  REQUIRE(line->interval);
  CHECK(line->interval->low == Approx(3.0));
  CHECK(line->interval->high == Approx(3.0));
}

TEST_CASE("Slope_OfNoise_ContainsZero_OfALeakDoesNot") {
  Rng rng(11);
  int flat_alarms = 0;
  int leaks_found = 0;
  constexpr int trials = sanitized ? 100 : 300;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> x;
    std::vector<double> flat;
    std::vector<double> leaking;
    for (int i = 0; i < 30; ++i) {
      x.push_back(5.0 * (i + 1));
      flat.push_back(1000.0 + 10.0 * static_cast<double>(rng.normal()));
      leaking.push_back(flat.back() + 0.5 * x.back());
    }
    if (slope(x, flat, 0.95)->interval->low > 0.0) ++flat_alarms;
    if (slope(x, leaking, 0.95)->interval->low > 0.0) ++leaks_found;
  }
  CHECK(flat_alarms <= 0.05 * trials);  // one side of 95 % is 2.5 %
  CHECK(leaks_found >= 0.99 * trials);
}

TEST_CASE("Slope_LongCourse_IsThinnedAndFewPointsHaveNoInterval") {
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < 5000; ++i) {
    x.push_back(i);
    y.push_back(2.0 * i);
  }
  CHECK(slope(x, y, 0.95)->value == Approx(2.0));
  CHECK_FALSE(slope(std::vector<double>{1, 2, 3}, std::vector<double>{1, 2, 3}, 0.95)->interval);
  CHECK_FALSE(slope(std::vector<double>{1}, std::vector<double>{1}, 0.95));
}

}  // namespace
}  // namespace driftscope::test::trend_test
