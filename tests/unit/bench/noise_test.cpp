#include <doctest/doctest.h>

#include <cmath>

#include "core/base/rng.hpp"
#include "core/bench/noise.hpp"

namespace driftscope::test::noise_test {
namespace {

using doctest::Approx;

BuildTimes build(const std::string& name, double level, double noise, int runs, Rng& rng) {
  BuildTimes times{name, {}};
  for (int i = 0; i < runs; ++i)
    times.medians_ns.push_back(level * std::exp(noise * static_cast<double>(rng.normal())));
  return times;
}

TEST_CASE("Noise_PooledOverBuilds_IgnoresTheirLevels") {
  Rng rng(1);
  std::vector<BuildTimes> builds;
  for (int i = 0; i < 40; ++i) builds.push_back(build(std::to_string(i), 1e6 * (1 + i), 0.03, 4, rng));
  const Noise noise = noise_between_runs(builds);
  CHECK(noise.degrees == 120);
  CHECK(noise.relative == Approx(0.03).epsilon(0.15));
  CHECK(noise.known());
}

TEST_CASE("Noise_SingleRuns_AreNotKnown") {
  const std::vector<BuildTimes> builds = {{"a", {1e6}}, {"b", {2e6}}};
  CHECK_FALSE(noise_between_runs(builds).known());
  const auto changes = classify_changes(builds, 0.99);
  CHECK(changes[0].change == Change::first);
  CHECK(changes[1].change == Change::unknown);
  CHECK(changes[1].times_as_long.value == Approx(2.0));
  CHECK_FALSE(changes[1].times_as_long.interval);
}

TEST_CASE("Noise_SlowdownBeyondTheNoise_IsFlagged") {
  Rng rng(2);
  const std::vector<BuildTimes> builds = {build("a", 1e6, 0.01, 5, rng), build("b", 1.002e6, 0.01, 5, rng),
                                          build("c", 1.2e6, 0.01, 5, rng), build("d", 0.9e6, 0.01, 5, rng)};
  const auto changes = classify_changes(builds, 0.99);
  CHECK(changes[1].change == Change::same);
  CHECK(changes[2].change == Change::slower);
  CHECK(changes[2].times_as_long.value == Approx(1.2).epsilon(0.03));
  CHECK(changes[2].times_as_long.interval->low > 1.1);
  CHECK(changes[3].change == Change::faster);
}

TEST_CASE("Noise_NoiseAlone_IsSeldomFlagged") {
  Rng rng(3);
  int flagged = 0;
  constexpr int trials = 1000;
  for (int trial = 0; trial < trials; ++trial) {
    const std::vector<BuildTimes> builds = {build("a", 1e6, 0.05, 3, rng), build("b", 1e6, 0.05, 3, rng)};
    if (classify_changes(builds, 0.99)[1].change != Change::same) ++flagged;
  }
  CHECK(flagged <= 0.02 * trials);  // 1 % and three standard deviations of the trials
  CHECK(flagged >= 1);
}

TEST_CASE("Noise_MedianThatRepeatsExactly_StillAllowsALittle") {
  const std::vector<BuildTimes> builds = {{"a", {1e6, 1e6, 1e6}}, {"b", {1.001e6, 1.001e6, 1.001e6}}};
  CHECK(classify_changes(builds, 0.99)[1].change == Change::same);
}

}  // namespace
}  // namespace driftscope::test::noise_test
