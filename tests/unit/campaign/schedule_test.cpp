#include "core/campaign/schedule.hpp"

#include <doctest/doctest.h>

#include <set>

namespace driftscope::test::schedule_test {
namespace {

using Cells = std::set<std::pair<std::size_t, std::int64_t>>;

CampaignSchedule schedule_of(std::size_t targets, std::optional<std::int64_t> items, const Cells& known = {},
                             CampaignBudget budget = {}, std::optional<double> batch_seconds = {}) {
  return CampaignSchedule({.targets = targets,
                           .items = items,
                           .known = [known](std::size_t t, std::int64_t i) { return known.contains({t, i}); },
                           .budget = budget,
                           .batch_seconds = batch_seconds},
                          0.0);
}

}  // namespace

TEST_CASE("Schedule_WithoutBatches_GivesEachTargetAllItsItems") {
  CampaignSchedule schedule = schedule_of(2, 3, {{0, 1}});
  auto batch = schedule.next(0.0);
  REQUIRE(batch);
  CHECK(batch->target == 0);
  CHECK(batch->items == std::vector<std::int64_t>{0, 2});
  schedule.done(*batch, 1.0);
  batch = schedule.next(1.0);
  REQUIRE(batch);
  CHECK(batch->target == 1);
  CHECK(batch->items == std::vector<std::int64_t>{0, 1, 2});
  CHECK_FALSE(schedule.finished());
  schedule.done(*batch, 2.0);
  CHECK_FALSE(schedule.next(2.0));
  CHECK(schedule.finished());
}

TEST_CASE("Schedule_BatchesGrowUntilTheyTakeTheirTime") {
  CampaignSchedule schedule = schedule_of(1, 1000, {}, {}, 4.0);
  double now = 0.0;
  std::int64_t cells = 0;
  double longest = 0.0;
  while (const auto batch = schedule.next(now)) {
    const double took = 0.1 * static_cast<double>(batch->items.size());
    longest = std::max(longest, took);
    now += took;
    cells += static_cast<std::int64_t>(batch->items.size());
    schedule.done(*batch, now);
  }
  CHECK(cells == 1000);
  CHECK(longest <= 4.0);
  CHECK(longest > 1.0);
}

TEST_CASE("Schedule_BudgetEndsItBeforeItsLastCell") {
  CampaignSchedule by_cells = schedule_of(2, 10, {}, {.cells = 7});
  const auto batch = by_cells.next(0.0);
  REQUIRE(batch);
  CHECK(batch->items.size() == 7);
  by_cells.done(*batch, 1.0);
  CHECK_FALSE(by_cells.next(1.0));
  CHECK_FALSE(by_cells.finished());

  CampaignSchedule by_time = schedule_of(1, 10, {}, {.seconds = 5.0}, 1.0);
  CHECK(by_time.next(4.9));
  CHECK_FALSE(by_time.next(5.0));
  CHECK_FALSE(by_time.finished());
}

TEST_CASE("Schedule_WithoutEnd_AlternatesTheTargets") {
  CampaignSchedule schedule = schedule_of(2, std::nullopt, {{1, 0}}, {.cells = 300});
  Cells seen;
  std::vector<std::size_t> order;
  while (const auto batch = schedule.next(0.0)) {
    order.push_back(batch->target);
    for (const std::int64_t item : batch->items) CHECK(seen.insert({batch->target, item}).second);
    schedule.done(*batch, 0.0);
  }
  CHECK(seen.size() == 300);
  CHECK_FALSE(seen.contains({1, 0}));
  CHECK(order.size() >= 4);
  for (std::size_t i = 0; i < order.size(); ++i) CHECK(order[i] == i % 2);
}

TEST_CASE("Schedule_TargetGivenUp_IsNotAskedAgain") {
  CampaignSchedule schedule = schedule_of(2, 4, {}, {}, 1.0);
  REQUIRE(schedule.next(0.0)->target == 0);
  schedule.give_up(0);
  const auto batch = schedule.next(0.0);
  REQUIRE(batch);
  CHECK(batch->target == 1);
  schedule.give_up(1);
  CHECK_FALSE(schedule.next(0.0));
  CHECK(schedule.finished());
}

TEST_CASE("Schedule_EstimatesWhatIsLeftFromAllButTheFirstBatch") {
  CampaignSchedule schedule = schedule_of(2, 10, {{0, 0}, {1, 3}}, {}, 1000.0);
  CHECK(schedule.step(0).done == 2);
  CHECK(schedule.step(0).total == 20);
  auto batch = schedule.next(0.0);
  REQUIRE(batch);
  schedule.done(*batch, 50.0);  // its target was opened
  CHECK_FALSE(schedule.step(0).seconds_left);
  batch = schedule.next(50.0);
  REQUIRE(batch);
  REQUIRE(batch->items.size() == 2);
  schedule.done(*batch, 54.0);
  const CampaignStep step = schedule.step(0);
  CHECK(step.done == 5);
  CHECK(step.seconds_left == doctest::Approx(2.0 * 15));
}

TEST_CASE("Schedule_WhatIsGivenUp_IsNotLeft") {
  CampaignSchedule schedule = schedule_of(2, 10, {{0, 0}}, {}, 1000.0);
  schedule.give_up(0);
  CHECK(schedule.step(1).total == 11);  // of the first target only what was known
}

}  // namespace driftscope::test::schedule_test
