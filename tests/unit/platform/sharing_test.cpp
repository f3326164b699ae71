// Whether loops are shared, on machines whose other programs leave less or more of the processors.
#include "core/platform/sharing.hpp"

#include <doctest/doctest.h>

namespace driftscope::test::sharing_test {
namespace {

/// A machine: how much time goes by for each second of work.
struct Machine {
  double shared = 0.5;
  double alone = 1.0;
};

struct Passed {
  double seconds = 0.0;
  double shared_share = 0.0;  ///< of the loops
};

/// Loops of a millisecond of work, for so long; `now_ns` goes on.
Passed run(Sharing& sharing, const Machine& machine, double work_seconds, std::int64_t& now_ns) {
  constexpr std::int64_t work_ns = 1'000'000;
  const auto loops = static_cast<int>(work_seconds * 1e9 / work_ns);
  const std::int64_t begin = now_ns;
  int shared = 0;
  for (int i = 0; i < loops; ++i) {
    const bool wanted = sharing.wanted([&] { return now_ns; });
    const auto elapsed = static_cast<std::int64_t>(work_ns * (wanted ? machine.shared : machine.alone));
    now_ns += elapsed;
    sharing.add({elapsed, work_ns}, now_ns);
    shared += wanted ? 1 : 0;
  }
  return {static_cast<double>(now_ns - begin) * 1e-9, static_cast<double>(shared) / loops};
}

TEST_CASE("Sharing_IdleMachine_IsAlwaysWanted") {
  Sharing sharing;
  std::int64_t now = 0;
  CHECK(run(sharing, {.shared = 0.55}, 10.0, now).shared_share == 1.0);
}

TEST_CASE("Sharing_MachineOfOthers_IsHardlySlowerThanAlone") {
  Sharing sharing;
  std::int64_t now = 0;
  const Passed passed = run(sharing, {.shared = 1.4}, 10.0, now);
  CHECK(passed.seconds < 10.0 * 1.02);
  CHECK(passed.shared_share > 0.0);
}

TEST_CASE("Sharing_OthersEnd_IsWantedAgainWithinASecond") {
  Sharing sharing;
  std::int64_t now = 0;
  (void)run(sharing, {.shared = 1.4}, 20.0, now);
  (void)run(sharing, {.shared = 0.5}, 1.0, now);
  CHECK(run(sharing, {.shared = 0.5}, 5.0, now).shared_share == 1.0);
}

TEST_CASE("Sharing_OneInterrupt_ChangesNothing") {
  Sharing sharing;
  for (std::int64_t i = 0; i < 100'000; ++i) {
    REQUIRE(sharing.wanted([&] { return i; }));
    sharing.add({i % 50 == 0 ? 4'000'000 : 11'000, 20'000}, i);
  }
}

// With many others two threads get a larger part of the processors than one.
TEST_CASE("Sharing_AloneIsAsSlow_IsWanted") {
  Sharing sharing;
  std::int64_t now = 0;
  (void)run(sharing, {.shared = 1.3, .alone = 2.0}, 1.0, now);
  CHECK(run(sharing, {.shared = 1.3, .alone = 2.0}, 10.0, now).shared_share > 0.9);
}

TEST_CASE("Sharing_LoopsWithoutTime_AreNoReason") {
  Sharing sharing;
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(sharing.wanted([&] { return std::int64_t{i}; }));
    sharing.add({50'000'000, 0}, i);
  }
}

}  // namespace
}  // namespace driftscope::test::sharing_test
