#include "core/compare/level_search.hpp"

#include <doctest/doctest.h>

#include <functional>

namespace driftscope::test::level_search_test {
namespace {

const LevelOutcome right{"right", 0};
const LevelOutcome wrong{"fault at conv", 2};
const LevelOutcome failed{"failed", 3};

/// Runs a search to its end; `level`, and how often it ran before, give the outcome.
int search(LevelSearch& search, const std::function<LevelOutcome(std::size_t, int)>& run) {
  int runs = 0;
  while (const auto level = search.next()) {
    REQUIRE(++runs < 1000);
    search.add(*level, run(*level, search.runs(*level)));
  }
  return runs;
}

std::vector<std::size_t> changes(const LevelSearch& search) {
  std::vector<std::size_t> found;
  for (const LevelTransition& one : search.transitions()) {
    CHECK(one.from + 1 == one.to);
    found.push_back(one.to);
  }
  return found;
}

}  // namespace

TEST_CASE("LevelSearch_OneTransition_IsFoundWhereverItIs_WithFewRuns") {
  constexpr std::size_t levels = 64;
  for (std::size_t first = 1; first < levels; ++first) {
    CAPTURE(first);
    LevelSearch one(levels, {});
    const int runs = search(one, [&](std::size_t level, int) { return level < first ? right : wrong; });
    CHECK(changes(one) == std::vector{first});
    CHECK(runs <= 2 + 6 + 2);  // the ends, log2, and the right neighbour twice more
    CHECK(one.runs(first - 1) == 3);
    CHECK(one.runs(first) == 1);
    CHECK(!one.flaky());
  }
}

TEST_CASE("LevelSearch_AFaultThatEnds_AndLevelsThatDoNotLoad_AreTransitionsToo") {
  LevelSearch one(20, {});
  search(one, [](std::size_t level, int) { return level < 4 ? failed : level < 15 ? wrong : right; });
  CHECK(changes(one) == std::vector<std::size_t>{4, 15});
  CHECK(*one.outcome(3) == failed);
  CHECK(one.outcome(1) == nullptr);
}

TEST_CASE("LevelSearch_EndsAlike_AreTriedAlone_UnlessEveryLevelIsWanted") {
  const auto between = [](std::size_t level, int) { return level == 3 ? wrong : right; };
  LevelSearch quick(9, {});
  CHECK(search(quick, between) == 2);
  CHECK(changes(quick).empty());
  LevelSearch every(9, {.every = true, .repeats = 1});
  CHECK(search(every, between) == 9);
  CHECK(changes(every) == std::vector<std::size_t>{3, 4});
}

TEST_CASE("LevelSearch_AFaultInOneOfTwoRuns_CountsAsOne_AndRightLevelsAreAskedAgain") {
  // From level 5 on every second run is wrong, the first one right.
  LevelSearch one(16, {.every = false, .repeats = 4});
  search(one, [](std::size_t level, int before) {
    if (level == 15) return wrong;
    return level >= 5 && before % 2 == 1 ? wrong : right;
  });
  CHECK(one.flaky());
  CHECK(changes(one) == std::vector<std::size_t>{5});
  CHECK(one.runs(4) == 4);
  CHECK(one.runs_like_it(5) == 1);
}

TEST_CASE("LevelSearch_OnceALevelIsFlaky_AllRightOnesAreAskedAgain") {
  // 7 and 11 are wrong in every second run, from 12 on all are: 7 is far from where the search ends.
  LevelSearch one(16, {.every = false, .repeats = 2});
  search(one, [](std::size_t level, int before) {
    if (level >= 12) return wrong;
    return (level == 7 || level == 11) && before == 1 ? wrong : right;
  });
  CHECK(changes(one) == std::vector<std::size_t>{7, 8, 11});
}

TEST_CASE("LevelSearch_OneLevelOrNone_HasNoTransition") {
  LevelSearch none(0, {});
  CHECK(!none.next());
  LevelSearch one(1, {});
  CHECK(search(one, [](std::size_t, int) { return wrong; }) == 1);
  CHECK(one.transitions().empty());
}

}  // namespace driftscope::test::level_search_test
