// The order of a comparison, and how failures are handled; the host returns traces and runs nothing.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <span>

#include "core/bench/memory_growth.hpp"
#include "core/compare/comparison_run.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/results/run_times.hpp"
#include "core/verify/perturbation.hpp"
#include "unit/support/model_builder.hpp"

namespace driftscope::test::comparison_run_test {
namespace {

using Strings = std::vector<std::string>;

Graph graph() {
  ModelBuilder model;
  model.input("x", DType::float32, {1, 2}).node("Relu", {"x"}, {"y"}).named("only").output("y");
  auto inferred = infer_shapes(built(model));
  REQUIRE(inferred.ok());
  return *std::move(inferred);
}

Trace trace_of(const std::string& target, std::vector<float> y) {
  Trace trace;
  trace.target = target;
  trace.tensors = {{"x", tensor<float>({1, 2}, {1, 2})}, {"y", tensor<float>({1, 2}, std::move(y))}};
  trace.nodes = {{"only", "Relu", {"y"}, {5}}};
  return trace;
}

/// The result of one run of a target.
struct Outcome {
  std::vector<float> y = {1, 2};
  std::optional<Error> at_start = {};
  std::optional<Error> while_running = {};
  std::optional<Error> while_timed = {};
  int waits = 0;
  std::vector<float> dataset = {0, 1, 1, 0};  ///< two samples of two classes
};

/// Records the requested runs.
class FakeHost final : public ComparisonHost {
 public:
  std::map<std::string, Outcome> outcomes;
  std::optional<Trace> instead;  // of every target
  Strings asked;
  std::vector<std::vector<std::int64_t>> samples_asked;
  int ended_early = 0;
  int released = 0;                    // asked to give back the memory of values
  mutable int polls_before_stop = -1;  ///< −1: never stopped

  class Run final : public TargetRun {
   public:
    Run(FakeHost& host, std::string target, RunPurpose purpose, std::span<const std::int64_t> samples)
        : host_(host),
          target_(std::move(target)),
          purpose_(purpose),
          samples_(samples.begin(), samples.end()),
          outcome_(host.outcomes[target_]) {}
    ~Run() override { host_.ended_early += taken_ || failed_ ? 0 : 1; }
    Result<RunState> poll(const StepProgress& progress) override {
      progress("running", 1, 2);
      if (outcome_.waits-- > 0) return RunState::waiting;
      const auto& error = purpose_ == RunPurpose::times ? outcome_.while_timed : outcome_.while_running;
      if (error) {
        failed_ = true;
        return *error;
      }
      return RunState::finished;
    }
    Trace take() override {
      taken_ = true;
      if (purpose_ != RunPurpose::dataset) {
        if (host_.instead) return *host_.instead;
        Trace trace = trace_of(target_, outcome_.y);
        if (purpose_ == RunPurpose::memory)
          add_memory_over_runs(trace, {.runs = 40, .series = {{"heap_in_use", true, {1, 2}, {5, 5}}}});
        if (purpose_ == RunPurpose::times) {
          trace.tensors.clear();
          trace.nodes.front().time_ns = {9, 8};
          set_run_times(trace, {{19, 18}, UnwatchedTimes{30, 12, {15}, ""}});
        }
        return trace;
      }
      Trace trace;
      std::vector<float> scores;
      for (const std::int64_t sample : samples_)
        for (const std::int64_t i : {2 * sample, 2 * sample + 1})
          scores.push_back(outcome_.dataset.at(static_cast<std::size_t>(i)));
      trace.tensors = {{"y", tensor<float>({std::ssize(samples_), 2}, std::move(scores))}};
      return trace;
    }

   private:
    FakeHost& host_;
    std::string target_;
    RunPurpose purpose_;
    std::vector<std::int64_t> samples_;
    Outcome outcome_;
    bool taken_ = false;
    bool failed_ = false;
  };

  Result<std::unique_ptr<TargetRun>> start(const Target& target, RunPurpose purpose,
                                           std::span<const std::int64_t> samples) override {
    samples_asked.emplace_back(samples.begin(), samples.end());
    constexpr const char* names[] = {"layers", "outputs", "times", "dataset", "memory"};
    asked.push_back(target.text() + " " + names[static_cast<int>(purpose)]);
    const Outcome& outcome = outcomes[target.text()];
    if (outcome.at_start) return *outcome.at_start;
    return std::unique_ptr<TargetRun>(new Run(*this, target.text(), purpose, samples));
  }
  void release_values() override { ++released; }
  [[nodiscard]] bool stopped() const override { return polls_before_stop == 0 || polls_before_stop-- == 0; }
};

/// Progress and results as lines.
class Log final : public ComparisonListener {
 public:
  Strings lines;
  void on_progress(std::size_t target, ComparisonStage stage, std::string_view step, std::int64_t,
                   std::int64_t) override {
    std::string line =
        std::to_string(target) + " " + std::to_string(static_cast<int>(stage)) + " " + std::string(step);
    if (lines.empty() || lines.back() != line) lines.push_back(std::move(line));
  }
  void on_verified(std::size_t target, const TargetResult&) override {
    if (log_verified) lines.push_back(std::to_string(target) + " verified");
  }
  bool log_verified = false;
  void on_result(std::size_t target) override { lines.push_back(std::to_string(target) + " done"); }
};

struct Case {
  Graph graph = comparison_run_test::graph();
  FakeHost host = {};
  Log log = {};
  ThreadPool threads{1};
  int waited = 0;

  ComparisonView run(ComparisonPlan plan) {
    ComparisonRun run(graph, std::move(plan), {}, host, threads, log);
    while (true) {
      const auto state = run.poll();
      REQUIRE_MESSAGE(state.ok(), state.error().message);
      if (*state == RunState::finished) return run.take();
      waited += *state == RunState::waiting ? 1 : 0;
    }
  }
};

}  // namespace

TEST_CASE("ComparisonRun_EachTarget_IsRunVerifiedComparedAndGivenTheDataSet") {
  Case c;
  c.host.outcomes["chrome/fast"].dataset = {0, 1, 0, 1};
  const ComparisonView view =
      c.run({.targets = {"pc/strict", "chrome/fast"}, .dataset = DatasetPlan{2, {1, 0}}});
  CHECK(c.host.asked ==
        Strings{"pc/strict layers", "pc/strict dataset", "chrome/fast layers", "chrome/fast dataset"});
  CHECK(c.log.lines == Strings{"0 0 running", "0 2 verifying", "0 5 running", "0 done", "1 0 running",
                               "1 2 verifying", "1 5 running", "1 done"});
  CHECK(view.left.verification->verdict == Verdict::identical);
  CHECK(!view.left.comparison);
  CHECK(view.left.dataset->correct == 2);
  REQUIRE(view.right.size() == 1);
  CHECK(view.right[0].comparison->layers.size() == 1);
  CHECK(view.right[0].dataset->correct == 1);
  CHECK(agreement(*view.left.dataset, *view.right[0].dataset) == 1);
  CHECK(c.host.ended_early == 0);
}

TEST_CASE("ComparisonRun_ValuesThatWereRead_AreReleasedLayerByLayer") {
  ModelBuilder model;
  model.input("x", DType::float32, {1, 2});
  constexpr int layers = 9;
  for (int i = 0; i < layers; ++i)
    model.node("Neg", {i == 0 ? "x" : "v" + std::to_string(i - 1)}, {"v" + std::to_string(i)});
  auto inferred = infer_shapes(built(model.output("v8")));
  REQUIRE(inferred.ok());
  Case c{.graph = *std::move(inferred)};
  Trace trace;
  trace.tensors = {{"x", tensor<float>({1, 2}, {1, 2})}};
  for (int i = 0; i < layers; ++i)
    trace.tensors.push_back({"v" + std::to_string(i),
                             i % 2 == 0 ? tensor<float>({1, 2}, {-1, -2}) : tensor<float>({1, 2}, {1, 2})});
  c.host.instead = std::move(trace);
  (void)c.run({.targets = {"pc/strict"}});
  const int verifying = c.host.released;
  CHECK(verifying >= layers);
  c.host.released = 0;
  (void)c.run({.targets = {"pc/strict", "pc/fast"}});
  CHECK(c.host.released >= 2 * verifying + layers);  // and while two traces are compared
}

TEST_CASE("ComparisonRun_DataSetWithAStore_RunsInBatchesAndGoesOnWithWhatItHas") {
  MemoryStore store;
  REQUIRE(store.add({"strict 1", "0"}, R"({"class":1})").ok());
  REQUIRE(store.add({"strict 1", "2"}, R"({"class":0})").ok());
  const DatasetPlan plan{5, {1, 0, 0, 1, 1}, &store, {"strict 1", "fast 1"}};
  const auto scores_of = [](std::vector<float> ones) {
    std::vector<float> scores;
    for (const float one : ones) scores.insert(scores.end(), {1.0f - one, one});
    return scores;
  };
  Case c;
  c.host.outcomes["pc/strict"].dataset = scores_of({0, 0, 1, 1, 1});  // of 0 and 2 not what the store has
  c.host.outcomes["pc/fast"].dataset = scores_of({1, 0, 0, 1, 0});
  const ComparisonView view = c.run({.targets = {"pc/strict", "pc/fast"}, .dataset = plan});
  CHECK(view.left.dataset->predictions == std::vector<std::int64_t>{1, 0, 0, 1, 1});
  CHECK(view.left.dataset->correct == 5);
  CHECK(view.right[0].dataset->correct == 4);
  CHECK(agreement(*view.left.dataset, *view.right[0].dataset) == 4);
  // The first batch opens the target; later ones grow.
  CHECK(c.host.samples_asked ==
        std::vector<std::vector<std::int64_t>>{{}, {1}, {3, 4}, {}, {0}, {1, 2}, {3, 4}});
  CHECK(store.results().size() == 10);
  Case again;
  const ComparisonView known = again.run({.targets = {"pc/strict", "pc/fast"}, .dataset = plan});
  CHECK(again.host.asked == Strings{"pc/strict layers", "pc/fast layers"});
  CHECK(known.right[0].dataset->predictions == view.right[0].dataset->predictions);
}

TEST_CASE("ComparisonRun_ADamagedAnswerInTheStore_IsNamed") {
  for (const char* damaged : {R"({"class":-2})", R"({"class":"1"})", "1", "{}"}) {
    MemoryStore store;
    REQUIRE(store.add({"s", "0"}, damaged).ok());
    REQUIRE(store.add({"s", "1"}, R"({"class":-1})").ok());
    Case c;
    const ComparisonView view =
        c.run({.targets = {"pc/strict"}, .dataset = DatasetPlan{2, {}, &store, {"s"}}});
    REQUIRE(view.left.error);
    CHECK(view.left.error->message.starts_with("--store: the answer to sample 0 on 's' is damaged"));
    CHECK(view.left.verification);
  }
}

TEST_CASE("ComparisonRun_AFailedTarget_KeepsTheOthers") {
  Case c;
  c.host.outcomes["chrome/one"].at_start = Error{ErrorKind::missing, "not here"};
  c.host.outcomes["firefox/two"].while_running = Error{ErrorKind::internal, "it died"};
  const ComparisonView view =
      c.run({.targets = {"pc/strict", "chrome/one", "firefox/two", "no target", "safari/three"}});
  REQUIRE(view.right.size() == 4);
  CHECK(view.right[0].error->message == "not here");
  CHECK(!view.right[0].trace);
  CHECK(view.right[1].error->message == "it died");
  CHECK(view.right[2].target == "no target");
  CHECK(view.right[2].error->kind == ErrorKind::bad_input);
  CHECK(!view.right[3].error);
  CHECK(view.right[3].comparison);
}

TEST_CASE("ComparisonRun_WithoutALeftTrace_VerifiesAndComparesNothing") {
  Case c;
  c.host.outcomes["pc/strict"].at_start = Error{ErrorKind::missing, "not here"};
  const ComparisonView view = c.run({.targets = {"pc/strict", "pc/fast"}});
  CHECK(view.left.error);
  CHECK(view.right[0].verification);
  CHECK(!view.right[0].comparison);
  CHECK(!view.right[0].error);
}

TEST_CASE("ComparisonRun_WhatCannotBeVerified_SaysSoFirstAndGetsNoDataSet") {
  Case c;
  ComparisonView about;
  about.model_sha256 = "aa";
  const Graph graph = comparison_run_test::graph();
  // A host whose traces are of another model.
  class OtherModel final : public ComparisonHost {
   public:
    int starts = 0;
    class Run final : public TargetRun {
     public:
      Result<RunState> poll(const StepProgress& /*progress*/) override { return RunState::finished; }
      Trace take() override {
        Trace trace = trace_of("pc/fast", {1, 2});
        trace.model_sha256 = "bb";
        return trace;
      }
    };
    Result<std::unique_ptr<TargetRun>> start(const Target&, RunPurpose,
                                             std::span<const std::int64_t>) override {
      ++starts;
      return std::unique_ptr<TargetRun>(new Run);
    }
    [[nodiscard]] bool stopped() const override { return false; }
  } host;
  ComparisonRun run(graph, {.targets = {"pc/fast"}, .dataset = DatasetPlan{2, {}}}, about, host, c.threads,
                    c.log);
  while (*run.poll() != RunState::finished) continue;
  REQUIRE(run.view().left.error);
  CHECK(run.view().left.error->message.find("bb") != std::string::npos);
  CHECK(run.view().left.trace);
  CHECK(host.starts == 1);
}

TEST_CASE("ComparisonRun_PerturbationCheck_RunsOutputsOnceMore") {
  Case c;
  const ComparisonView view = c.run({.targets = {"pc/strict", "pc/fast"}, .perturbation_check = true});
  CHECK(c.host.asked ==
        Strings{"pc/strict layers", "pc/strict outputs", "pc/fast layers", "pc/fast outputs"});
  const auto check = perturbation_check_of(*view.right[0].trace);
  REQUIRE(check);
  CHECK(!check->changed());
}

TEST_CASE("ComparisonRun_Memory_IsWatchedLastAndAddedToTheTrace") {
  Case c;
  const ComparisonView view = c.run({.targets = {"pc/strict", "pc/fast"},
                                     .perturbation_check = true,
                                     .watch_memory = true,
                                     .dataset = DatasetPlan{2, {}}});
  CHECK(c.host.asked == Strings{"pc/strict layers", "pc/strict outputs", "pc/strict dataset",
                                "pc/strict memory", "pc/fast layers", "pc/fast outputs", "pc/fast dataset",
                                "pc/fast memory"});
  for (const TargetResult* result : {&view.left, &view.right[0]}) {
    const auto memory = memory_over_runs_of(*result->trace);
    REQUIRE(memory);
    CHECK(memory->runs == 40);
    CHECK(perturbation_check_of(*result->trace));
    CHECK(result->trace->tensors.size() == 2);
  }
}

TEST_CASE("ComparisonRun_Times_AreMeasuredOnceTheTargetIsJudged") {
  Case c;
  c.log.log_verified = true;
  const ComparisonView view = c.run({.targets = {"pc/strict", "pc/fast"},
                                     .measure_times = true,
                                     .watch_memory = true,
                                     .dataset = DatasetPlan{2, {}}});
  CHECK(c.host.asked == Strings{"pc/strict layers", "pc/strict times", "pc/strict dataset",
                                "pc/strict memory", "pc/fast layers", "pc/fast times", "pc/fast dataset",
                                "pc/fast memory"});
  const Strings of_left = {"0 0 running", "0 2 verifying", "0 verified",  "0 4 running",
                           "0 verified",  "0 5 running",   "0 6 running", "0 done"};
  REQUIRE(c.log.lines.size() == 2 * of_left.size());
  CHECK(std::ranges::equal(of_left, std::span(c.log.lines).first(of_left.size())));
  for (const TargetResult* result : {&view.left, &view.right[0]}) {
    CHECK(run_time(*result).ns == 15);
    CHECK(result->trace->nodes.front().time_ns == std::vector<std::int64_t>{9, 8});
    CHECK(result->trace->tensors.size() == 2);
    CHECK(memory_over_runs_of(*result->trace));
  }
}

TEST_CASE("ComparisonRun_TimesThatFail_LeaveTheRest") {
  Case c;
  c.host.outcomes["pc/strict"].while_timed = Error{ErrorKind::limit, "out of memory"};
  const ComparisonView view = c.run({.targets = {"pc/strict", "pc/fast"}, .measure_times = true});
  CHECK(!view.left.error);
  CHECK(view.left.verification->verdict == Verdict::identical);
  CHECK(run_time(view.left).error == "out of memory");
  CHECK(view.left.trace->nodes.front().time_ns == std::vector<std::int64_t>{5});
  CHECK(run_time(view.right[0]).ns == 15);
}

TEST_CASE("ComparisonRun_WithoutVerifying_OnlyRunsAndChecks") {
  Case c;
  const ComparisonView view = c.run({.targets = {"pc/strict", "pc/fast"},
                                     .perturbation_check = true,
                                     .verify = false,
                                     .watch_memory = true});
  CHECK(c.host.asked == Strings{"pc/strict layers", "pc/strict outputs", "pc/strict memory", "pc/fast layers",
                                "pc/fast outputs", "pc/fast memory"});
  CHECK(view.left.trace);
  CHECK(!view.left.verification);
  CHECK(!view.right[0].comparison);
  CHECK(memory_over_runs_of(*view.left.trace));
}

TEST_CASE("ComparisonRun_AFile_IsReadOnce") {
  Case c;
  const ComparisonView view = c.run({.targets = {"file/a.safetensors"},
                                     .perturbation_check = true,
                                     .measure_times = true,
                                     .watch_memory = true,
                                     .dataset = DatasetPlan{2, {}}});
  CHECK(c.host.asked == Strings{"file/a.safetensors layers"});
  CHECK(view.left.verification);
  CHECK(!view.left.dataset);
}

TEST_CASE("ComparisonRun_AHostThatWaits_IsPolledAgain") {
  Case c;
  c.host.outcomes["pc/strict"].waits = 3;
  (void)c.run({.targets = {"pc/strict"}});
  CHECK(c.waited == 3);
}

TEST_CASE("ComparisonRun_Stopped_EndsTheRunAtEveryState") {
  int polls = 0;
  for (int before = 0;; ++before) {
    Case c;
    c.host.polls_before_stop = before;
    ComparisonRun run(c.graph, {.targets = {"pc/strict", "pc/fast"}, .dataset = DatasetPlan{2, {}}}, {},
                      c.host, c.threads, c.log);
    Result<RunState> state = run.poll();
    while (state.ok() && *state != RunState::finished) state = run.poll();
    if (state.ok()) break;  // it finished before the stop
    ++polls;
    CHECK(state.error().kind == ErrorKind::cancelled);
    CHECK(c.host.ended_early <= 1);
    if (!run.view().left.target.empty()) CHECK(run.view().left.verification);
    REQUIRE(before < 100);
  }
  CHECK(polls > 10);
}

}  // namespace driftscope::test::comparison_run_test
