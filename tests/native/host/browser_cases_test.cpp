// Cases that take the browser with them, among others that do not.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "native/host/browser_cases.hpp"

namespace driftscope::test::browser_cases_test {
namespace {

/// A browser that ends during the cases in `deadly`, and during the first run of those in `hiccups`.
struct Fake {
  std::set<std::size_t> deadly;
  std::set<std::size_t> hiccups = {};
  int starts = 0;
  std::size_t runs = 0;
  int losses = 0;

  Result<std::vector<CaseRun>> all(std::size_t count) {
    return run_surviving(
        count,
        [this](std::size_t first, std::size_t wanted,
               const std::function<void(std::size_t)>& lost_at) -> Result<std::vector<Result<Trace>>> {
          ++starts;
          std::vector<Result<Trace>> traces;
          for (std::size_t i = 0; i < wanted; ++i) {
            if (deadly.contains(first + i) || hiccups.erase(first + i) > 0) {
              lost_at(i);
              return missing_error("hung");
            }
            ++runs;
            Trace trace;
            trace.target = std::to_string(first + i);
            traces.emplace_back(std::move(trace));
          }
          return traces;
        },
        losses);
  }
};

void check(Fake& fake, std::size_t count) {
  const auto hiccups = fake.hiccups;
  const auto results = fake.all(count);
  REQUIRE(results.ok());
  REQUIRE(results->size() == count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& trace = (*results)[i].trace;
    REQUIRE(trace.ok() == !fake.deadly.contains(i));
    if (trace.ok())
      CHECK(trace->target == std::to_string(i));
    else
      CHECK(trace.error().message == "hung");
    CHECK((*results)[i].lost_before.has_value() == hiccups.contains(i));
    CHECK((*results)[i].lost == fake.deadly.contains(i));
  }
}

TEST_CASE("RunSurviving_CasesThatEndTheBrowser_AreTheOnlyOnesWithoutAResult") {
  for (const std::set<std::size_t>& deadly :
       {std::set<std::size_t>{}, {0}, {9}, {4}, {0, 1, 2}, {3, 4, 8}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}) {
    Fake fake{deadly};
    check(fake, 10);
    CHECK(fake.runs <= 2 * 10);  // those before such a case run once more, no others
    CHECK(fake.starts <= 1 + 3 * static_cast<int>(deadly.size()));
  }
  Fake none;
  check(none, 0);
}

TEST_CASE("RunSurviving_BrowserLostOnce_RunsTheCaseAgainAndSaysSo") {
  Fake fake{{1}, {0, 3, 5, 9}};
  check(fake, 10);
  CHECK(fake.starts <= 1 + 3 * 5);
}

TEST_CASE("RunSurviving_BrowserThatHangsBeforeTheCaseAlone_LosesThatCaseOnly") {
  int alone = 0;
  int losses = 0;
  const auto results = run_surviving(
      4,
      [&](std::size_t first, std::size_t count,
          const std::function<void(std::size_t)>& lost_at) -> Result<std::vector<Result<Trace>>> {
        if (first == 2 && count == 1 && ++alone == 1) return missing_error("did not open the page");
        if (first <= 2 && first + count > 2) {
          lost_at(2 - first);
          return limit_error("no answer");
        }
        return std::vector<Result<Trace>>(count, Trace());
      },
      losses);
  REQUIRE(results.ok());
  REQUIRE(results->size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK((*results)[i].trace.ok() == (i != 2));
  CHECK((*results)[2].trace.error().message == "no answer");
}

TEST_CASE("RunSurviving_BrowserThatNeverStarts_IsAnErrorAtOnce") {
  int starts = 0;
  int losses = 0;
  const auto results = run_surviving(
      5,
      [&](std::size_t, std::size_t,
          const std::function<void(std::size_t)>&) -> Result<std::vector<Result<Trace>>> {
        ++starts;
        return missing_error("not installed");
      },
      losses);
  REQUIRE_FALSE(results.ok());
  CHECK(starts == 1);
}

TEST_CASE("RunSurviving_EveryCaseHangs_GivesUpBeforeTheEnd") {
  Fake fake;
  for (std::size_t i = 0; i < 1000; ++i) fake.deadly.insert(i);
  CHECK_FALSE(fake.all(1000).ok());
  CHECK(fake.starts < 100);
}

TEST_CASE("RunSurviving_LossesOfEarlierCalls_CountAsWell") {
  Fake fake{{0}};
  int calls = 0;
  while (calls < 100 && fake.all(1).ok()) ++calls;
  CHECK(calls > 5);
  CHECK(calls < 30);
}

}  // namespace
}  // namespace driftscope::test::browser_cases_test
