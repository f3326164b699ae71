// When a recording may stop.
#include "core/trace/settling.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace driftscope::test::settling_test {
namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr SettlingLimits limits{.budget_ns = 2000 * ms};

/// The number of runs until they have settled, each as long as `length` says.
template <class Length>
std::size_t runs_until_settled(const Length& length) {
  std::vector<std::int64_t> runs;
  do {
    runs.push_back(length(runs.size()));
  } while (!has_settled(runs, limits) && runs.size() < 10'000);
  return runs.size();
}

}  // namespace

TEST_CASE("HasSettled_TimesThatFall_GoOnUntilTheyNoLongerDo") {
  // Compiled in the background: fast from the twelfth run on.
  const std::size_t runs = runs_until_settled([](std::size_t run) { return (run < 12 ? 20 : 4) * ms; });
  CHECK(runs > 16);
  CHECK(runs < 60);
  // As measured of an LSTM in Chromium.
  CHECK(runs_until_settled([](std::size_t run) { return run == 0 ? 76 * ms : (run < 4 ? 20 : 4) * ms; }) >
        20);
}

TEST_CASE("HasSettled_SlowRuns_EndWithTheBudget") {
  CHECK(runs_until_settled([](std::size_t) { return 900 * ms; }) == 3);
  CHECK(runs_until_settled([](std::size_t) { return 9000 * ms; }) == 2);  // at least one steady run
}

TEST_CASE("HasSettled_FastRuns_EndWithTheirNumber") {
  CHECK(runs_until_settled([](std::size_t) { return std::int64_t{20'000}; }) == 200);
  CHECK(runs_until_settled([](std::size_t) { return std::int64_t{0}; }) == 200);
}

TEST_CASE("HasSettled_EvenRuns_NeedTheLeastTimeOnly") {
  CHECK(runs_until_settled([](std::size_t) { return 50 * ms; }) == 7);
  CHECK(runs_until_settled([](std::size_t) { return 10 * ms; }) == 30);
}

}  // namespace driftscope::test::settling_test
