// Whether something is faster, from ratios of several launches.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "core/base/rng.hpp"
#include "core/bench/bench_report.hpp"
#include "core/statistics/distributions.hpp"

namespace driftscope::test::contrast_test {
namespace {

using doctest::Approx;

/// Ratios of launches whose logarithms are normal around that of `truth`.
std::vector<double> launches(Rng& rng, int count, double truth, double spread) {
  std::vector<double> ratios;
  for (int i = 0; i < count; ++i) {
    const double uniform = (static_cast<double>(rng.uniform()) + 1e-4) / 1.0002;
    ratios.push_back(truth * std::exp(spread * normal_quantile(uniform)));
  }
  return ratios;
}

/// How many of `benches` found what `is` asks for.
template <class Is>
int count(std::uint64_t seed, int benches, double truth, double spread, const Is& is) {
  Rng rng(seed);
  int found = 0;
  for (int i = 0; i < benches; ++i)
    if (is(*contrast(launches(rng, 6, truth, spread), 0.95))) ++found;
  return found;
}

TEST_CASE("Contrast_ByHand_IsStudentsInterval") {
  // Logarithms 0.01, 0.02, 0.03: mean 0.02, standard error 0.01 ÷ √3; t of 2 degrees at 97.5 % is 4.302653.
  const std::vector<double> ratios = {std::exp(0.01), std::exp(0.02), std::exp(0.03)};
  const auto found = contrast(ratios, 0.95);
  REQUIRE(found);
  const double error = 0.01 / std::sqrt(3.0);
  CHECK(std::log(found->times_as_fast.value) == Approx(0.02));
  CHECK(std::log(found->times_as_fast.interval->low) == Approx(0.02 - 4.302653 * error));
  CHECK(std::log(found->times_as_fast.interval->high) == Approx(0.02 + 4.302653 * error));
  CHECK(found->speed == RelativeSpeed::unclear);
  // The 80 % quantile of 2 degrees is 1.060660.
  CHECK(std::log1p(found->visible) == Approx((4.302653 + 1.060660) * error));
  CHECK(found->launches == 3);
}

TEST_CASE("Contrast_NoDifference_IsSeldomCalledOne") {
  const auto called = [](const Contrast& one) { return one.speed != RelativeSpeed::unclear; };
  const int wrong = count(71, 2000, 1.0, 0.02, called);
  INFO("seed 71, " << wrong << " of 2000");
  CHECK(wrong > 60);  // 5 % are 100, with a standard deviation of 10
  CHECK(wrong < 140);
}

TEST_CASE("Contrast_SmallestVisibleDifference_IsSeenInFourOfFive") {
  Rng rng(72);
  double visible = 0.0;
  for (int i = 0; i < 500; ++i) visible += contrast(launches(rng, 6, 1.0, 0.02), 0.95)->visible / 500;
  const int seen = count(73, 2000, 1.0 + visible, 0.02,
                         [](const Contrast& one) { return one.speed == RelativeSpeed::faster; });
  INFO("seeds 72 and 73, a difference of " << visible << " seen in " << seen << " of 2000");
  CHECK(seen > 1450);
  CHECK(seen < 1850);
}

TEST_CASE("Contrast_BothDirections") {
  CHECK(contrast(std::vector{1.10, 1.11, 1.09, 1.10}, 0.95)->speed == RelativeSpeed::faster);
  CHECK(contrast(std::vector{0.90, 0.91, 0.89, 0.90}, 0.95)->speed == RelativeSpeed::slower);
  CHECK(speed_words(RelativeSpeed::unclear) == "cannot tell");
}

TEST_CASE("Contrast_EqualLaunches_AreLuckAndNoCertainty") {
  const auto found = contrast(std::vector{1.0005, 1.0005, 1.0005}, 0.95);
  CHECK(found->speed == RelativeSpeed::unclear);
  CHECK(found->visible > 0.001);
}

TEST_CASE("Contrast_OneLaunch_IsNone") { CHECK_FALSE(contrast(std::vector{1.5}, 0.95)); }

/// A row of several launches whose runs take `ns` each.
BenchRow row_of(const std::string& model, const std::string& target, double ns,
                const std::string& reference = "") {
  BenchRow row;
  row.model = model;
  row.target = row.base_name = target;
  row.reference = reference;
  for (int launch = 0; launch < 6; ++launch) {
    const double factor = 1.0 + 0.001 * launch;
    BenchSeries series;
    series.steady = true;
    series.end = BenchEnd::precise;
    for (int round = 0; round < 10; ++round) series.rounds.push_back({{ns * factor}, 0, 0, 1000 * round});
    add_launch(row.series, std::move(series));
    row.launches.push_back({2e-6 * ns / factor, 3e-6 * ns});
  }
  return row;
}

const BenchContrast* find(const BenchReport& report, const std::string& model, BenchTime time) {
  const auto found = std::ranges::find_if(
      report.contrasts, [&](const BenchContrast& one) { return one.model == model && one.time == time; });
  return found == report.contrasts.end() ? nullptr : &*found;
}

TEST_CASE("Contrasts_OtherBuild_EveryTargetBesideItself") {
  BenchReport report;
  report.against = "old";
  report.rows = {row_of("m", "pc/fast", 1e6), row_of("m", "pc/fast", 1.5e6, "old"),
                 row_of("m", "pc/strict", 3e6), row_of("m", "pc/strict", 3e6, "old")};
  add_contrasts(report);
  REQUIRE(report.contrasts.size() == 6);  // two targets; runs, loading, first runs
  const BenchContrast* run = find(report, "m", BenchTime::run);
  REQUIRE(run);
  CHECK(run->target == "pc/fast");
  CHECK(run->contrast.times_as_fast.value == Approx(1.5));
  CHECK(run->contrast.speed == RelativeSpeed::faster);
  CHECK(run->contrast.launches == 6);
  CHECK(find(report, "m", BenchTime::load)->contrast.times_as_fast.value == Approx(1.5));
  for (const BenchContrast& one : report.contrasts)
    if (one.target == "pc/strict") CHECK(one.contrast.speed == RelativeSpeed::unclear);
}

TEST_CASE("Contrasts_Target_IsTheReferenceOfTheOthers") {
  BenchReport report;
  report.against = "pc/ort";
  report.rows = {row_of("m", "pc/fast", 2e6), row_of("m", "pc/ort", 1e6)};
  add_contrasts(report);
  REQUIRE(report.contrasts.size() == 3);
  CHECK(report.contrasts[0].target == "pc/fast");
  CHECK(report.contrasts[0].contrast.speed == RelativeSpeed::slower);
}

TEST_CASE("Contrasts_SeveralModels_HaveOneTogether") {
  BenchReport report;
  report.against = "old";
  report.rows = {row_of("m", "pc/fast", 1e6), row_of("m", "pc/fast", 2e6, "old"), row_of("n", "pc/fast", 1e6),
                 row_of("n", "pc/fast", 8e6, "old")};
  add_contrasts(report);
  const BenchContrast* both = find(report, "", BenchTime::run);
  REQUIRE(both);
  CHECK(both->models == 2);
  CHECK(both->contrast.times_as_fast.value == Approx(4.0));
}

TEST_CASE("Contrasts_MoreTargets_NeedMore") {
  const auto width = [](int targets) {
    BenchReport report;
    report.against = "old";
    for (int i = 0; i < targets; ++i) {
      report.rows.push_back(row_of("m", "pc/" + std::to_string(i), 1e6));
      report.rows.push_back(row_of("m", "pc/" + std::to_string(i), 1e6, "old"));
    }
    add_contrasts(report);
    return report.contrasts.front().contrast.visible;
  };
  CHECK(width(10) > 1.3 * width(1));
}

TEST_CASE("Launches_MemoryOfTheLastOneStandsForAll") {
  BenchRow row = row_of("m", "pc/fast", 1e6);
  // Each launch begins again at no memory and keeps 1000 bytes a run.
  const BenchFigures figures = bench_figures(row, 0.95);
  REQUIRE(figures.heap_slope);
  CHECK(figures.heap_slope->value == Approx(1000.0));
  CHECK(figures.runs == 60);
}

TEST_CASE("Launches_OneThatWasNotPrecise_IsTheEndOfAll") {
  BenchSeries all;
  BenchSeries one;
  one.rounds.push_back({{1.0}});
  one.steady = true;
  one.end = BenchEnd::precise;
  BenchSeries cut = one;
  cut.end = BenchEnd::time;
  cut.steady = false;
  add_launch(all, one);
  CHECK(all.end == BenchEnd::precise);
  add_launch(all, cut);
  add_launch(all, one);
  CHECK(all.end == BenchEnd::time);
  CHECK_FALSE(all.steady);
  CHECK(series_of_launch(all, 1).rounds.size() == 1);
}

}  // namespace
}  // namespace driftscope::test::contrast_test
