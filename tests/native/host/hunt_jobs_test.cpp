// A hunt whose cases are judged as jobs: in any order, twice lost, hostile; the store has each case once, in
// its order.
#include "native/host/hunt_jobs.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/hunt/judged.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope::test::hunt_jobs_test {
namespace {

std::string block_text(std::int64_t count, const std::string& outcome = "right") {
  std::string cells;
  for (std::int64_t i = 0; i < count; ++i)
    cells += fmt::format("{}{{\"outcome\":\"{}\",\"of\":\"x\",\"reason\":\"\",\"found\":[]}}",
                         i > 0 ? "," : "", outcome);
  return fmt::format("{{\"cells\":[{}]}}", cells);
}

/// Ends the last of its jobs first.
class BackwardPool final : public JobPool {
 public:
  std::function<void(const ProgramJob& job, ProgramJobResult& result)> change = [](auto&, auto&) {};
  std::map<std::string, int> runs = {};  ///< by a job's arguments

  [[nodiscard]] std::string about() const override { return "4 workers"; }
  [[nodiscard]] std::size_t room() const override { return 4 - jobs_.size(); }
  [[nodiscard]] Status submit(ProgramJob job) override {
    ++runs[fmt::format("{}", fmt::join(job.arguments, " "))];
    jobs_.push_back(std::move(job));
    return {};
  }
  [[nodiscard]] Result<std::vector<ProgramJobResult>> wait(std::chrono::milliseconds) override {
    std::vector<ProgramJobResult> ended;
    if (jobs_.empty()) return ended;
    const ProgramJob job = jobs_.back();
    jobs_.pop_back();
    ProgramJobResult result;
    result.id = job.id;
    result.exit_code = 0;
    result.seconds = 20.0;
    result.result = block_text(std::stoll(job.arguments.at(2)));
    change(job, result);
    ended.push_back(std::move(result));
    return ended;
  }

 private:
  std::vector<ProgramJob> jobs_;
};

/// Keeps the order in which it was given results.
class OrderedStore final : public CampaignStore {
 public:
  std::vector<CampaignCell> order = {};
  [[nodiscard]] const CampaignResults& results() const override { return memory_.results(); }
  [[nodiscard]] Status add(const CampaignCell& cell, std::string result) override {
    order.push_back(cell);
    return memory_.add(cell, std::move(result));
  }
  [[nodiscard]] Status remove(std::span<const CampaignCell> cells) override { return memory_.remove(cells); }

 private:
  MemoryStore memory_;
};

struct SmallHunt {
  std::unique_ptr<HuntCases> cases = made_graphs(1, {});
  BackwardPool pool = {};
  OrderedStore store = {};
  HuntPlan plan = {};
  documents::Hunt hunt = {};

  explicit SmallHunt(std::int64_t count) {
    plan.targets = {Target{"pc", "strict", {}}, Target{"pc", "fast", {}}};
    plan.names = {"pc/strict (1)", "pc/fast (1)"};
    plan.cases = count;
    plan.reduce_seconds = 0;
    plan.stopped = [] { return false; };
    plan.found = [](auto&, auto&, auto&) {};
    plan.progress = [](auto&, auto, auto) {};
    plan.pool = &pool;
    plan.job = [](std::size_t target, std::int64_t first, std::int64_t n) {
      ProgramJob job;
      job.arguments = {std::to_string(target), std::to_string(first), std::to_string(n)};
      return job;
    };
  }
  void run() {
    const Status ran = run_hunt(*cases, plan, store, hunt);
    REQUIRE_MESSAGE(ran.ok(), ran.error().message);
  }
};

}  // namespace

TEST_CASE("HuntJobs_BlocksInAnyOrder_AreKeptInTheirsOnce") {
  SmallHunt one(100);
  one.run();
  REQUIRE(one.store.order.size() == 200);
  for (const std::string& name : one.plan.names) {
    std::int64_t number = 0;
    for (const CampaignCell& cell : one.store.order)
      if (cell.target == name) CHECK(cell.item == hunt::case_name(number++));
    CHECK(number == 100);
  }
  CHECK(std::ranges::all_of(one.pool.runs, [](const auto& run) { return run.second == 1; }));
  CHECK(one.hunt.targets.at(0).right == 100);
  one.run();  // all is known
  CHECK(one.store.order.size() == 200);
}

TEST_CASE("HuntJobs_LostOnce_BeginsOnceMore") {
  SmallHunt one(40);
  int losses = 0;
  one.pool.change = [&](const ProgramJob&, ProgramJobResult& result) {
    if (losses++ < 1) result.error = io_error("the worker was lost");
  };
  one.run();
  CHECK(one.store.order.size() == 80);
  CHECK(std::ranges::count_if(one.pool.runs, [](const auto& run) { return run.second == 2; }) == 1);
}

TEST_CASE("HuntJobs_TargetThatFails_IsGivenUpAndTheOtherGoesOn") {
  for (const bool answers : {false, true}) {
    CAPTURE(answers);
    SmallHunt one(40);
    one.pool.change = [&](const ProgramJob& job, ProgramJobResult& result) {
      if (job.arguments.at(0) != "0") return;
      result.result = answers ? block_text(std::stoll(job.arguments.at(2)) + 1) : "";
      if (!answers) result.exit_code = 3, result.errors = "no such browser";
    };
    one.run();
    REQUIRE(one.hunt.targets.at(0).error);
    if (!answers) CHECK(*one.hunt.targets[0].error == "no such browser");
    CHECK(one.hunt.targets.at(1).right == 40);
    CHECK(one.hunt.targets[0].right == 0);
  }
}

TEST_CASE("HuntJobs_Hostile_IsRefusedOrLosesItsFolder") {
  CHECK(read_hunt_block(block_text(2), 2).ok());
  CHECK_FALSE(read_hunt_block(block_text(2), 3).ok());
  CHECK_FALSE(read_hunt_block(block_text(2, "odd"), 2).ok());
  for (const char* const text : {"", "[]", "{}", "{\"cells\":1}", "{\"cells\":[1,2]}"})
    CHECK_FALSE(read_hunt_block(text, 2).ok());
  const auto read = read_hunt_block(
      R"({"cells":[{"outcome":"wrong","of":"x","reason":"","found":[{"kind":"fault","key":"k","node":"n",
"op":"Conv","cause":null,"text":"t","reduced":null,"folder":"../../elsewhere"}]}]})",
      1);
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK_FALSE(read->front().found.front().folder);
}

}  // namespace driftscope::test::hunt_jobs_test
