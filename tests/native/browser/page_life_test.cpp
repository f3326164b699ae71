// The rule that ends a browser, by what its page has said and when; no time passes here.
#include "native/browser/page_life.hpp"

#include <doctest/doctest.h>

namespace driftscope::test::page_life_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Clock::time_point began{};

// A page that has opened the job; both times in seconds.
Job::Snapshot page(int last_sign, int last_change) {
  Job::Snapshot page;
  page.opened = true;
  page.progress = {messages::Phase::compile, 0, 0, 0, 0, 12, 40};
  page.last_sign = began + seconds(last_sign);
  page.last_change = began + seconds(last_change);
  return page;
}

std::string at(int second, const Job::Snapshot& page, LifeLimits limits = life_limits(seconds(15), {})) {
  return given_up(page, began + seconds(second), limits).value_or("");
}

TEST_CASE("LifeLimits_FollowFromTheTimeout") {
  const LifeLimits usual = life_limits(seconds(60), {});
  CHECK(usual.open == seconds(60));
  CHECK(usual.silence == seconds(30));
  CHECK(usual.stall == seconds(300));
  // --timeout allows a page more silence, whatever its length.
  CHECK(life_limits(seconds(600), {}).silence == seconds(300));
  CHECK(life_limits(seconds(8), {}).silence == seconds(8));
  CHECK(life_limits(seconds(8), milliseconds(500)).stall == milliseconds(500));
}

TEST_CASE("GivenUp_PageThatDidNotOpen_AfterTheTimeout") {
  Job::Snapshot starting;
  starting.last_sign = starting.last_change = began;
  CHECK(at(15, starting).empty());
  CHECK(at(16, starting) == "did not open the page for 15.0 s and was ended; --timeout allows more");
}

TEST_CASE("GivenUp_PageThatLivesWithoutProgress_WaitsLongerThanTheTimeout") {
  Job::Snapshot busy = page(60, 0);
  CHECK(at(60, busy).empty());
  busy.last_sign = began + seconds(75);
  CHECK(at(75, busy).empty());
  CHECK(at(76, busy) ==
        "made no progress for 75.0 s in phase 'compile' (12 of 40 shaders compiled) and was ended (its page "
        "lives); --stall-timeout allows more");
  CHECK(at(76, busy, life_limits(seconds(15), seconds(600))).empty());
}

TEST_CASE("GivenUp_PageThatIsSilent_EndsSoonWhateverItsWorkerMayDo") {
  Job::Snapshot silent = page(0, 0);
  silent.worker_answered = began;
  CHECK(at(15, silent).empty());
  CHECK(at(16, silent) ==
        "gave no sign of life for 15.0 s in phase 'compile' (12 of 40 shaders compiled) and was ended; "
        "--timeout allows more");
}

TEST_CASE("GivenUp_SaysWhetherTheWorkerAnswers") {
  Job::Snapshot stalled = page(80, 0);
  stalled.progress = {messages::Phase::run, 3, 7};
  stalled.worker_answered = began + seconds(79);
  CHECK(
      at(80, stalled) ==
      "made no progress for 75.0 s in phase 'run' and was ended (its page lives, and its worker answers: it "
      "waits for the browser); --stall-timeout allows more");
  stalled.worker_answered = began + seconds(3);
  CHECK(at(80, stalled).find("its worker has not answered for 77.0 s") != std::string::npos);
}

}  // namespace
}  // namespace driftscope::test::page_life_test
