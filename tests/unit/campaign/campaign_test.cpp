// A campaign that is interrupted at random and resumed has the results of one that was not.
#include "core/campaign/campaign.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/rng.hpp"
#include "core/campaign/store_format.hpp"
#include "unit/support/text.hpp"

namespace driftscope::test::campaign_test {
namespace {

struct Stop {};  // the process ends here

/// A store whose text survives its process; the process ends before, in or after a write.
class MortalStore final : public CampaignStore {
 public:
  MortalStore(std::string& text, std::int64_t bytes_to_live)
      : text_(text), left_(bytes_to_live), stored_(*read_store(text, definition())) {
    text_.resize(stored_.whole_bytes);
    if (text_.empty()) write(*header_line(definition()) + "\n");
  }
  static CampaignDefinition definition() { return {"test", {{"seed", 1}}, "build"}; }

  [[nodiscard]] const CampaignResults& results() const override { return stored_.results; }
  [[nodiscard]] Status add(const CampaignCell& cell, std::string result) override {
    write(*result_line(cell, result) + "\n");
    stored_.results.emplace(cell, std::move(result));
    return {};
  }

  Status remove(std::span<const CampaignCell>) override { return {}; }

 private:
  void write(const std::string& line) {
    const auto size = static_cast<std::int64_t>(line.size());
    text_ += line.substr(0, static_cast<std::size_t>(std::min(size, left_)));
    if (size > left_) throw Stop();
    left_ -= size;
  }
  std::string& text_;
  std::int64_t left_;
  StoredCampaign stored_;
};

/// What a check of this cell gives: nothing but the cell decides.
nlohmann::json checked(const std::string& target, std::int64_t item) {
  return {{"value", 0.1 * static_cast<double>(item)}, {"text", target + "\xff\n\"x\""}};
}

struct World {
  double now = 0.0;
  int checks = 0;
};

Campaign campaign_of(World& world, std::int64_t items, bool reversed = false) {
  Campaign campaign;
  campaign.targets = {"pc/a", "pc/b", "chrome/c"};
  if (reversed) std::ranges::reverse(campaign.targets);
  campaign.items = items;
  campaign.name_of = [](std::int64_t item) { return "item \"" + std::to_string(item) + "\""; };
  campaign.check = [&world, targets = campaign.targets](std::size_t target,
                                                        std::span<const std::int64_t> batch) {
    std::vector<nlohmann::json> results;
    for (const std::int64_t item : batch) {
      results.push_back(checked(targets[target], item));
      world.now += 0.3;
      ++world.checks;
    }
    return Result<std::vector<nlohmann::json>>(std::move(results));
  };
  campaign.seconds = [&world] { return world.now; };
  campaign.batch_seconds = 4.0;
  return campaign;
}

const CampaignProgress quiet = [](const CampaignStep&) {};

}  // namespace

TEST_CASE("Campaign_KilledAnywhereAndResumed_HasTheSameResults") {
  const std::uint64_t seed = 20261126;
  MESSAGE("seed " << seed);
  Rng rng(seed);
  World straight_world;
  MemoryStore straight;
  REQUIRE(run_campaign(campaign_of(straight_world, 40), straight, quiet)->finished);
  REQUIRE(straight.results().size() == 120);
  for (int round = 0; round < 30; ++round) {
    std::string text;
    World world;
    for (int runs = 0;; ++runs) {
      REQUIRE(runs < 10'000);
      const bool last = rng.below(20) == 0;
      try {
        MortalStore store(text, last ? INT64_MAX : static_cast<std::int64_t>(rng.below(3000)));
        Campaign campaign = campaign_of(world, 40, rng.below(2) == 0);
        if (rng.below(3) == 0) campaign.budget.cells = static_cast<std::int64_t>(rng.below(30));
        if (rng.below(3) == 0) campaign.budget.seconds = static_cast<double>(rng.below(10));
        const auto outcome = run_campaign(campaign, store, quiet);
        REQUIRE(outcome.ok());
        if (!outcome->finished) continue;
        CHECK(store.results() == straight.results());
        break;
      } catch (const Stop&) {
      }
    }
  }
}

TEST_CASE("Campaign_Resumed_RunsOnlyWhatIsMissing") {
  World world;
  MemoryStore store;
  Campaign campaign = campaign_of(world, 10);
  campaign.budget.cells = 12;
  const auto first = run_campaign(campaign, store, quiet);
  REQUIRE(first.ok());
  CHECK_FALSE(first->finished);
  CHECK(world.checks == 12);
  campaign.budget = {};
  CHECK(run_campaign(campaign, store, quiet)->finished);
  CHECK(world.checks == 30);
  World straight_world;
  MemoryStore straight;
  REQUIRE(run_campaign(campaign_of(straight_world, 10), straight, quiet).ok());
  CHECK(store.results() == straight.results());
}

TEST_CASE("Campaign_TargetThatFails_LeavesTheOthers") {
  World world;
  MemoryStore store;
  Campaign campaign = campaign_of(world, 5);
  const auto check = campaign.check;
  campaign.check = [&](std::size_t target, std::span<const std::int64_t> batch) {
    if (target == 1) return Result<std::vector<nlohmann::json>>(missing_error("no browser"));
    return check(target, batch);
  };
  const auto outcome = run_campaign(campaign, store, quiet);
  REQUIRE(outcome.ok());
  CHECK(outcome->finished);
  CHECK_FALSE(outcome->errors[0]);
  REQUIRE(outcome->errors[1]);
  CHECK(outcome->errors[1]->message == "no browser");
  CHECK(store.results().size() == 10);
}

TEST_CASE("Campaign_ItemsOfOneName_AreADefect") {
  World world;
  MemoryStore store;
  Campaign campaign = campaign_of(world, 2);
  campaign.batch_seconds = {};
  campaign.name_of = [](std::int64_t) { return std::string("same"); };
  const auto outcome = run_campaign(campaign, store, quiet);
  REQUIRE_FALSE(outcome.ok());
  CHECK(holds(outcome.error().message, "two items have the name same"));
}

TEST_CASE("Campaign_Stopped_EndsBetweenBatches") {
  World world;
  MemoryStore store;
  Campaign campaign = campaign_of(world, 100);
  campaign.stopped = [&] { return world.checks >= 7; };
  const auto outcome = run_campaign(campaign, store, quiet);
  REQUIRE(outcome.ok());
  CHECK_FALSE(outcome->finished);
  CHECK(store.results().size() == static_cast<std::size_t>(world.checks));
}

}  // namespace driftscope::test::campaign_test
