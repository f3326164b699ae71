// Against closed forms and printed tables; coverage of the intervals by simulation with seeds.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/base/rng.hpp"
#include "core/statistics/distributions.hpp"
#include "core/statistics/statistics.hpp"

namespace driftscope::test::statistics_test {
namespace {

using doctest::Approx;

std::vector<double> numbers(std::initializer_list<double> values) { return values; }

/// Right-skewed, like times: never below 1.
double skewed(Rng& rng) {
  const double x = static_cast<double>(rng.normal());
  return 1.0 + 0.05 * std::exp(x);
}
constexpr double true_skewed_median = 1.05;

TEST_CASE("NormalQuantile_PrintedTable") {
  CHECK(normal_quantile(0.5) == Approx(0.0).epsilon(1e-9));
  CHECK(normal_quantile(0.975) == Approx(1.959963985).epsilon(1e-8));
  CHECK(normal_quantile(0.01) == Approx(-2.326347874).epsilon(1e-8));
}

TEST_CASE("StudentQuantile_PrintedTable") {
  CHECK(student_quantile(0.975, 1) == Approx(12.7062).epsilon(1e-5));
  CHECK(student_quantile(0.975, 2) == Approx(4.30265).epsilon(1e-5));
  CHECK(student_quantile(0.995, 10) == Approx(3.16927).epsilon(1e-5));
  CHECK(student_quantile(0.05, 30) == Approx(-1.69726).epsilon(1e-5));
  CHECK(student_quantile(0.975, 1e6) == Approx(1.95997).epsilon(1e-5));
}

TEST_CASE("FairBinomialBound_MatchesTheSignTestsTable") {
  // Critical values at 5 %, two-sided: Hollander, Wolfe and Chicken, table A.2.
  CHECK(fair_binomial_bound(5, 0.025) == -1);
  CHECK(fair_binomial_bound(6, 0.025) == 0);
  CHECK(fair_binomial_bound(9, 0.025) == 1);
  CHECK(fair_binomial_bound(20, 0.025) == 5);
  CHECK(fair_binomial_bound(100, 0.025) == 39);
  CHECK(fair_binomial_bound(10000, 0.025) == 4901);  // 5000 − 1.96 · 50 − ½
}

TEST_CASE("SignedRankBound_MatchesWilcoxonsTable") {
  CHECK(signed_rank_bound(5, 0.025) == -1);
  CHECK(signed_rank_bound(6, 0.025) == 0);
  CHECK(signed_rank_bound(8, 0.025) == 3);
  CHECK(signed_rank_bound(10, 0.025) == 8);
  CHECK(signed_rank_bound(20, 0.025) == 52);
  CHECK(signed_rank_bound(25, 0.005) == 68);
  CHECK(signed_rank_bound(50, 0.025) == 434);
  // The approximation takes over where the exact table ends.
  CHECK(std::abs(signed_rank_bound(61, 0.025) - signed_rank_bound(60, 0.025)) < 25);
}

TEST_CASE("InversionsBound_SmallCasesByHand") {
  // Of the 24 permutations of 4, one has none and three have one inversion.
  CHECK(inversions_bound(4, 0.04) == -1);
  CHECK(inversions_bound(4, 0.05) == 0);
  CHECK(inversions_bound(4, 4.0 / 24 + 1e-12) == 1);
  CHECK(std::abs(inversions_bound(61, 0.025) - inversions_bound(60, 0.025)) < 40);
}

TEST_CASE("Median_OddEvenAndUnsorted") {
  CHECK(median(numbers({3})) == 3);
  CHECK(median(numbers({9, 1, 5})) == 5);
  CHECK(median(numbers({4, 1, 3, 2})) == 2.5);
}

TEST_CASE("Quantile_NearestRank") {
  std::vector<double> values;
  for (int i = 20; i >= 1; --i) values.push_back(i);
  CHECK(quantile(values, 0.95) == 19);
  CHECK(quantile(values, 1.0) == 20);
  CHECK(quantile(values, 0.001) == 1);
  CHECK(quantile(numbers({7}), 0.95) == 7);
}

TEST_CASE("MedianAbsoluteDeviation_IgnoresAnOutlier") {
  CHECK(median_absolute_deviation(numbers({1, 2, 3, 4, 1000})) == 1);
  CHECK(median_absolute_deviation(numbers({5, 5, 5})) == 0);
}

TEST_CASE("MedianInterval_TooFewValues_Nothing") {
  CHECK_FALSE(median_interval(numbers({}), 0.95));
  CHECK_FALSE(median_interval(numbers({1, 2, 3, 4, 5}), 0.95));
  const auto six = median_interval(numbers({6, 5, 4, 3, 2, 1}), 0.95);
  REQUIRE(six);
  CHECK(six->low == 1);
  CHECK(six->high == 6);
}

TEST_CASE("MedianInterval_CoversTheTrueMedianAsOftenAsItSays") {
  Rng rng(1);
  for (const int n : {6, 11, 40}) {
    int covered = 0;
    constexpr int trials = 4000;
    for (int trial = 0; trial < trials; ++trial) {
      std::vector<double> values;
      for (int i = 0; i < n; ++i) values.push_back(skewed(rng));
      const auto interval = median_interval(values, 0.95);
      if (interval->low <= true_skewed_median && true_skewed_median <= interval->high) ++covered;
    }
    CAPTURE(n);
    CHECK(covered >= 0.94 * trials);  // 95 % less three standard deviations of the trials
    CHECK(covered <= 0.99 * trials);  // and no wider than the steps of the order statistics require
  }
}

TEST_CASE("PairedRatio_OfMultiples_IsExact") {
  const auto ratio = paired_ratio(numbers({2, 4, 6, 8, 10, 12}), numbers({1, 2, 3, 4, 5, 6}), 0.95);
  REQUIRE(ratio);
  CHECK(ratio->value == Approx(2));
  REQUIRE(ratio->interval);
  CHECK(ratio->interval->low == Approx(2));
  CHECK(ratio->interval->high == Approx(2));
}

TEST_CASE("PairedRatio_DriftOfTheMachineCancels") {
  // Both become four times as slow during the measurement; the paired ratio is unaffected.
  Rng rng(2);
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 40; ++i) {
    const double drift = 1.0 + 3.0 * i / 39.0;
    a.push_back(1.5 * drift * skewed(rng));
    b.push_back(drift * skewed(rng));
  }
  const auto ratio = paired_ratio(a, b, 0.95);
  REQUIRE(ratio->interval);
  CHECK(ratio->interval->low > 1.40);
  CHECK(ratio->interval->high < 1.60);
  CHECK(ratio->interval->low <= 1.5);
  CHECK(ratio->interval->high >= 1.5);
}

TEST_CASE("PairedRatio_CoversTheTrueRatioAsOftenAsItSays") {
  Rng rng(3);
  int covered = 0;
  constexpr int trials = 2000;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> a;
    std::vector<double> b;
    for (int i = 0; i < 12; ++i) {
      a.push_back(0.8 * skewed(rng));
      b.push_back(skewed(rng));
    }
    const auto ratio = paired_ratio(a, b, 0.95);
    if (ratio->interval->low <= 0.8 && 0.8 <= ratio->interval->high) ++covered;
  }
  CHECK(covered >= 0.935 * trials);
}

TEST_CASE("PairedRatio_UnequalLists_UsesThePairsThereAre") {
  const auto ratio = paired_ratio(numbers({2, 2, 900}), numbers({1, 1}), 0.95);
  REQUIRE(ratio);
  CHECK(ratio->value == Approx(2));
  CHECK_FALSE(ratio->interval);
  CHECK_FALSE(paired_ratio(numbers({}), numbers({1}), 0.95));
}

TEST_CASE("GeometricMean_ValuesAndIntervals") {
  const std::vector<Estimate> ratios = {{2.0, Interval{1.0, 4.0}}, {8.0, Interval{8.0, 8.0}}};
  const auto mean = geometric_mean(ratios);
  REQUIRE(mean);
  CHECK(mean->value == Approx(4.0));
  REQUIRE(mean->interval);
  CHECK(mean->interval->low == Approx(4.0 / std::sqrt(2.0)));
  CHECK(mean->interval->high == Approx(4.0 * std::sqrt(2.0)));
  CHECK_FALSE(geometric_mean({}));
  CHECK_FALSE(geometric_mean(std::vector<Estimate>{{2.0}})->interval);
}

}  // namespace
}  // namespace driftscope::test::statistics_test
