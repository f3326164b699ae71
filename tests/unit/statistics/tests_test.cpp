// Examples from R's documentation, brute force over all permutations, symmetry.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "core/base/rng.hpp"
#include "core/statistics/bootstrap.hpp"
#include "core/statistics/effect_size.hpp"
#include "core/statistics/holm.hpp"
#include "core/statistics/mann_whitney.hpp"
#include "core/statistics/mcnemar.hpp"
#include "core/statistics/ranks.hpp"
#include "core/statistics/rate.hpp"
#include "core/statistics/wilcoxon.hpp"
#include "unit/support/seed.hpp"

namespace driftscope::test::tests_test {
namespace {

using doctest::Approx;
using Values = std::vector<double>;

// ?wilcox.test: the depression scores and the permeability of Hollander and Wolfe.
TEST_CASE("Wilcoxon_ExampleOfR") {
  const Values x = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
  const Values y = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
  const auto test = wilcoxon(x, y, {.alternative = Alternative::greater});
  CHECK(test->w_plus == 40);
  CHECK(test->p.p == Approx(0.01953125).epsilon(1e-12));
  CHECK(test->rank_biserial == Approx(35.0 / 45));
}

TEST_CASE("MannWhitney_ExampleOfR") {
  const Values x = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
  const Values y = {1.15, 0.88, 0.90, 0.74, 1.21};
  const auto test = mann_whitney(x, y, {.alternative = Alternative::greater});
  CHECK(test->u == 35);
  CHECK(std::fabs(test->p.p - 0.1272) < 5e-5);
}

// Approval of a president in two surveys (Agresti, Categorical Data Analysis): 63² ÷ 236.
TEST_CASE("McNemar_ApprovalRatings") {
  const McNemar test = mcnemar({.both = 794, .only_a = 86, .only_b = 150, .neither = 570},
                               Alternative::two_sided, PValueMethod::approximate);
  CHECK(std::fabs(test.statistic - 16.8178) < 5e-5);
  CHECK(std::fabs(test.p.p - 4.115e-05) < 5e-9);
  CHECK(*test.odds_ratio == Approx(86.0 / 150));
}

TEST_CASE("Wilcoxon_ContractOfTheCommand") {
  const Values a = {1, 2, 3, 4, 5, 6, 7, 8};
  Values b = a;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] += (i == 1 ? -1.0 : 1.0) * static_cast<double>(i + 1);
  const auto test = wilcoxon(a, b);
  CHECK(test->w_plus == 2);
  CHECK(test->p.p == 6.0 / 256);
  CHECK(test->p.exact);
}

Values few_values(Rng& rng, std::size_t n, std::uint64_t choices) {
  Values values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(static_cast<double>(rng.below(choices)) * 0.25);
  return values;
}

// All 2ⁿ signs of the differences, ties and zeros included.
TEST_CASE("Wilcoxon_EqualsAllSigns") {
  const std::uint64_t seed = test_seed(3);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(200); ++round) {
    const std::size_t n = 1 + rng.below(8);
    const std::uint64_t choices = round % 2 == 0 ? 4 : 1000;
    const Values a = few_values(rng, n, choices);
    const Values b = few_values(rng, n, choices);
    for (const auto zeros : {ZeroDifferences::wilcox, ZeroDifferences::pratt}) {
      Values sizes;
      double observed = 0.0;
      for (std::size_t i = 0; i < n; ++i)
        if (a[i] != b[i] || zeros == ZeroDifferences::pratt) sizes.push_back(std::fabs(a[i] - b[i]));
      const auto rank_of = [&](double size) {  // by counting
        double rank = 0.5;
        for (const double other : sizes) rank += other < size ? 1.0 : other == size ? 0.5 : 0.0;
        return rank;
      };
      Values ranks;
      for (std::size_t i = 0; i < n; ++i) {
        if (a[i] == b[i]) continue;
        ranks.push_back(rank_of(std::fabs(a[i] - b[i])));
        if (a[i] > b[i]) observed += ranks.back();
      }
      double at_most = 0.0;
      double at_least = 0.0;
      const std::uint64_t all = std::uint64_t{1} << ranks.size();
      for (std::uint64_t signs = 0; signs < all; ++signs) {
        double sum = 0.0;
        for (std::size_t i = 0; i < ranks.size(); ++i) sum += (signs >> i & 1) != 0 ? ranks[i] : 0.0;
        at_most += sum <= observed ? 1.0 / static_cast<double>(all) : 0.0;
        at_least += sum >= observed ? 1.0 / static_cast<double>(all) : 0.0;
      }
      const auto p = [&](Alternative alternative) {
        return wilcoxon(a, b, {alternative, PValueMethod::automatic, zeros})->p.p;
      };
      CHECK(p(Alternative::less) == Approx(at_most).epsilon(1e-12));
      CHECK(p(Alternative::greater) == Approx(at_least).epsilon(1e-12));
      CHECK(p(Alternative::two_sided) ==
            Approx(std::min(1.0, 2 * std::min(at_most, at_least))).epsilon(1e-12));
    }
  }
}

// All choices of a's places among both samples.
TEST_CASE("MannWhitney_EqualsAllChoices") {
  const std::uint64_t seed = test_seed(5);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(100); ++round) {
    const std::size_t m = 1 + rng.below(4);
    const std::size_t n = 1 + rng.below(4);
    const std::uint64_t choices = round % 2 == 0 ? 4 : 1000;
    const Values a = few_values(rng, m, choices);
    const Values b = few_values(rng, n, choices);
    Values both = a;
    both.insert(both.end(), b.begin(), b.end());
    const auto twice_u = [&](std::uint64_t chosen) {
      double twice = 0.0;
      for (std::size_t i = 0; i < both.size(); ++i)
        for (std::size_t j = 0; j < both.size(); ++j)
          if ((chosen >> i & 1) != 0 && (chosen >> j & 1) == 0)
            twice += both[i] > both[j] ? 2.0 : both[i] == both[j] ? 1.0 : 0.0;
      return twice;
    };
    const double observed = twice_u((std::uint64_t{1} << m) - 1);
    double at_most = 0.0;
    double at_least = 0.0;
    double all = 0.0;
    for (std::uint64_t chosen = 0; chosen < std::uint64_t{1} << both.size(); ++chosen) {
      if (std::popcount(chosen) != static_cast<int>(m)) continue;
      const double u = twice_u(chosen);
      all += 1;
      at_most += u <= observed ? 1.0 : 0.0;
      at_least += u >= observed ? 1.0 : 0.0;
    }
    CHECK(mann_whitney(a, b)->u == observed / 2);
    CHECK(mann_whitney(a, b, {.alternative = Alternative::less})->p.p ==
          Approx(at_most / all).epsilon(1e-12));
    CHECK(mann_whitney(a, b, {.alternative = Alternative::greater})->p.p ==
          Approx(at_least / all).epsilon(1e-12));
  }
}

TEST_CASE("Tests_OfSwappedFilesAreMirrored") {
  const std::uint64_t seed = test_seed(9);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(60); ++round) {
    const std::size_t n = 2 + rng.below(round % 3 == 0 ? 120 : 20);
    const Values a = few_values(rng, n, 9);
    const Values b = few_values(rng, n, 10);
    const Values c = few_values(rng, 1 + rng.below(70), 10);
    CHECK(wilcoxon(a, b)->p.p == Approx(wilcoxon(b, a)->p.p).epsilon(1e-12));
    CHECK(wilcoxon(a, b, {.alternative = Alternative::less})->p.p ==
          Approx(wilcoxon(b, a, {.alternative = Alternative::greater})->p.p).epsilon(1e-12));
    CHECK(wilcoxon(a, b)->rank_biserial == -wilcoxon(b, a)->rank_biserial);
    CHECK(mann_whitney(a, c)->p.p == Approx(mann_whitney(c, a)->p.p).epsilon(1e-12));
    CHECK(mann_whitney(a, c, {.alternative = Alternative::less})->p.p ==
          Approx(mann_whitney(c, a, {.alternative = Alternative::greater})->p.p).epsilon(1e-12));
    CHECK(vargha_delaney(a, c) == Approx(1 - vargha_delaney(c, a)).epsilon(1e-12));
    CHECK(paired_vargha_delaney(a, b) == Approx(1 - paired_vargha_delaney(b, a)).epsilon(1e-12));
  }
}

TEST_CASE("Tests_WhereNothingDiffers") {
  const Values same = {1, 2, 3};
  CHECK(wilcoxon(same, same)->p.p == 1);
  CHECK(wilcoxon(same, same, {.zeros = ZeroDifferences::pratt})->p.p == 1);
  CHECK(mann_whitney(Values(60, 1.0), Values(60, 1.0))->p.p == 1);
  CHECK(paired_vargha_delaney(same, same) == 0.5);
  CHECK(mcnemar({.both = 5}).p.p == 1);
  CHECK_FALSE(mcnemar({.both = 5}).odds_ratio.has_value());
  CHECK(vargha_delaney_size(0.5) == "negligible");
  CHECK(vargha_delaney_size(0.56) == "small");
  CHECK(vargha_delaney_size(1 - 0.64) == "medium");
  CHECK(vargha_delaney_size(0.1) == "large");
}

TEST_CASE("ExactAndApproximate_MeetWhereBothAreGood") {
  Rng rng(7);
  const Values a = few_values(rng, 50, 1000);
  Values b = few_values(rng, 50, 1000);
  for (double& value : b) value += 20;
  const auto both = [&](PValueMethod method) { return wilcoxon(a, b, {.method = method})->p.p; };
  CHECK(both(PValueMethod::exact) == Approx(both(PValueMethod::approximate)).epsilon(0.05));
  const auto u = [&](PValueMethod method) { return mann_whitney(a, b, {.method = method})->p.p; };
  CHECK(u(PValueMethod::exact) == Approx(u(PValueMethod::approximate)).epsilon(0.05));
  const Values many(1001, 1.0);
  CHECK_FALSE(wilcoxon(many, Values(1001, 2.0), {.method = PValueMethod::exact}).ok());
  CHECK_FALSE(mann_whitney(many, many, {.method = PValueMethod::exact}).ok());
}

TEST_CASE("Bootstrap_IsSeeded") {
  const std::vector<Values> samples = {{1.1, 2.3, 4.7, 8.9, 16.1, 32.3, 3.14, 9.77, 21.3, 40.01}};
  const auto mean = [](Samples drawn) {
    double sum = 0.0;
    for (const double value : drawn[0]) sum += value;
    return sum / static_cast<double>(drawn[0].size());
  };
  const auto first = bootstrap_interval(samples, mean);
  CHECK(first.interval.low == bootstrap_interval(samples, mean).interval.low);
  CHECK(first.interval.low != bootstrap_interval(samples, mean, {.seed = 43}).interval.low);
  CHECK(first.interval.low < first.value);
  CHECK(first.value < first.interval.high);
  // Nothing to draw from: a point, by the percentiles.
  const std::vector<Values> same = {{3, 3, 3}};
  const auto point = bootstrap_interval(same, mean);
  CHECK(point.interval.low == 3);
  CHECK(point.interval.high == 3);
  CHECK(point.kind == BootstrapKind::percentile);
}

// BCa is for skewed statistics: about as many true values are missed on either side.
TEST_CASE("Bootstrap_CoversTheTrueMean") {
  Rng rng(11);
  int covered = 0;
  constexpr int rounds = 300;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Values> samples(1);
    for (int i = 0; i < 40; ++i) samples[0].push_back(static_cast<double>(rng.normal()));
    const auto result = bootstrap_interval(samples,
                                           [](Samples drawn) {
                                             double sum = 0.0;
                                             for (const double value : drawn[0]) sum += value;
                                             return sum / 40;
                                           },
                                           {.resamples = 500, .seed = rng.next()});
    covered += result.interval.low <= 0 && 0 <= result.interval.high ? 1 : 0;
  }
  CHECK(covered >= 0.91 * rounds);
  CHECK(covered <= 0.985 * rounds);
}

TEST_CASE("Ranks_ShareTheirMean") {
  const Ranks ranks = doubled_ranks(Values{3, 1, 3, -2, 3});
  CHECK(ranks.doubled == std::vector<std::int64_t>{8, 4, 8, 2, 8});
  CHECK(ranks.tie_sum == 24);
  CHECK(rank_step(ranks.doubled) == 2);
  CHECK(rank_step(doubled_ranks(Values{1, 1}).doubled) == 1);
}

TEST_CASE("RateIntervals_HoldTheRateAndNest") {
  for (const std::int64_t n : {1, 2, 10, 1000, 2000000})
    for (const std::int64_t k : {std::int64_t{0}, n / 3, n - 1, n}) {
      const Interval wilson = wilson_interval(k, n);
      const Interval exact = clopper_pearson_interval(k, n);
      const double rate = static_cast<double>(k) / static_cast<double>(n);
      for (const Interval& one : {wilson, exact}) {
        CHECK(0 <= one.low);
        CHECK(one.low <= rate);
        CHECK(rate <= one.high);
        CHECK(one.high <= 1);
        CHECK(one.low < one.high);
      }
    }
}

}  // namespace
}  // namespace driftscope::test::tests_test
