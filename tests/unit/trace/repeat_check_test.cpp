#include "core/trace/repeat_check.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/base/json.hpp"
#include "core/platform/platform.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/trace/record.hpp"
#include "core/trace/trace_file.hpp"
#include "core/trace/trace_view.hpp"
#include "core/verify/repeats.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/model_builder.hpp"
#include "tests/unit/support/mutate.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::repeat_check_test {
namespace {

Graph chain() {
  ModelBuilder model;
  model.input("x", DType::float32, {4})
      .node("Relu", {"x"}, {"a"})
      .named("first")
      .node("Add", {"a", "x"}, {"b"})
      .named("second")
      .node("Mul", {"b", "b"}, {"y"})
      .named("third")
      .output("y");
  return built(model);
}

Tensor floats(const std::vector<float>& values) {
  return tensor<float>({static_cast<std::int64_t>(values.size())}, values);
}

struct Values {
  std::vector<float> x = {-1, 0, 1, 2};
  std::vector<float> a = {0, 0, 1, 2};
  std::vector<float> b = {-1, 0, 2, 4};
  std::vector<float> y = {1, 0, 4, 16};
};

/// Gives the comparer these runs.
RunComparer compared(const Graph& graph, const std::vector<Values>& runs) {
  RunComparer comparer(graph);
  for (const Values& run : runs) {
    comparer.begin_run();
    // Not in topological order: an engine may finish nodes in any.
    comparer.value(*graph.find_value("y"), floats(run.y));
    comparer.value(*graph.find_value("x"), floats(run.x));
    comparer.value(*graph.find_value("b"), floats(run.b));
    comparer.value(*graph.find_value("a"), floats(run.a));
    comparer.end_run();
  }
  return comparer;
}

/// A trace of the first run, as record makes it.
Trace trace_of(const Values& first, RunComparer comparer) {
  Trace trace;
  trace.run = json_text(nlohmann::json{{"repeat_check", repeat_check_json(comparer.result())}});
  trace.later = comparer.take_values();
  trace.tensors = {
      {"x", floats(first.x)}, {"a", floats(first.a)}, {"b", floats(first.b)}, {"y", floats(first.y)}};
  return trace;
}

/// Right only after the first run: its inner value is wrong once it has run before.
class FadingSession final : public Session {
 public:
  explicit FadingSession(const Graph& graph) : graph_(graph) {}
  Status start(std::vector<Tensor> inputs, TraceSink& sink) override {
    ++run_;
    sink_ = &sink;
    DRIFTSCOPE_CHECK(sink.value(graph_.inputs[0], inputs[0]));
    return {};
  }
  Result<Progress> poll(std::int64_t /*budget_ns*/) override {
    const Values right;
    const std::vector<std::vector<float>> values = {right.a, run_ == 1 ? right.b : right.x, right.y};
    for (NodeId node = 0; node < 3; ++node) {
      const ValueId output = graph_.nodes[node].outputs[0];
      CHECK(sink_->wants(output));
      DRIFTSCOPE_CHECK(sink_->value(output, floats(values[node])));
      sink_->node_done(node, 5);
    }
    return Progress{3, 3};
  }
  Result<std::vector<Tensor>> finish() override { return std::vector<Tensor>{floats(Values().y)}; }
  [[nodiscard]] RanWith ran_with() const override { return {}; }

 private:
  const Graph& graph_;
  TraceSink* sink_ = nullptr;
  int run_ = 0;
};

}  // namespace

TEST_CASE("RepeatCheck_SameBits_Agree_WhateverTheirNaNs") {
  const Graph graph = chain();
  Values first;
  Values second;
  first.y[1] = std::nanf("1");
  second.y[1] = -std::nanf("2");
  const RepeatCheck check = compared(graph, {first, second, first}).result();
  CHECK(check.agree());
  CHECK(check.runs == 3);
  CHECK(check.values == 4);
  REQUIRE(check.groups.size() == 1);
  CHECK(check.groups[0].contiguous());
}

TEST_CASE("RepeatCheck_Difference_NamesTheFirstInTopologicalOrder_AndKeepsItsValue") {
  const Graph graph = chain();
  Values wrong;
  wrong.b[3] = 4.5f;
  wrong.y[3] = 20.25f;
  RunComparer comparer = compared(graph, {{}, wrong, wrong});
  const RepeatCheck check = comparer.result();
  REQUIRE(check.different.size() == 2);
  CHECK(check.different[0].run == 2);
  CHECK(check.different[1].run == 3);
  CHECK(check.different[0].value == "b");
  CHECK(check.different[0].node == "second");
  CHECK(check.different[0].op == "Add");
  CHECK(check.different[0].values == 2);
  CHECK_FALSE(check.different[0].zero_signs);
  REQUIRE(check.groups.size() == 2);
  CHECK(check.groups[0].runs == 1);
  CHECK(check.groups[1].first == 2);
  CHECK(check.groups[1].last == 3);
  const auto values = comparer.take_values();
  REQUIRE(values.size() == 2);
  CHECK(values[0].named.name == "b");
  CHECK(values[0].named.tensor.values<float>()[3] == 4.5f);
}

TEST_CASE("RepeatCheck_SignsOfZeros_AreReportedApart_AndAfterNumbers") {
  const Graph graph = chain();
  Values zeros;
  zeros.a[1] = -0.0f;
  const RepeatCheck check = compared(graph, {{}, zeros}).result();
  REQUIRE(check.different.size() == 1);
  CHECK(check.different[0].zero_signs);
  CHECK(check.different[0].value == "a");
  Values both = zeros;
  both.y[0] = 1.5f;
  const RepeatCheck numbers = compared(graph, {{}, both}).result();
  REQUIRE(numbers.different.size() == 1);
  CHECK_FALSE(numbers.different[0].zero_signs);
  CHECK(numbers.different[0].value == "y");
  CHECK(numbers.different[0].values == 2);
  Values before = {};
  before.y[1] = -0.0f;
  before.b[0] = -1.5f;  // given after y
  CHECK(compared(graph, {{}, before}).result().different.at(0).value == "b");
}

TEST_CASE("RepeatCheck_OtherShapes_AbsentValues_OverwrittenInputs_AreNamed") {
  const Graph graph = chain();
  Values shape;
  shape.y = {1, 0, 4};
  CHECK(compared(graph, {{}, shape}).result().different.at(0).reason.find("in this one") !=
        std::string::npos);
  Values input;
  input.x[0] = 7;
  const RepeatCheck overwritten = compared(graph, {{}, input}).result();
  CHECK(overwritten.different.at(0).node.empty());
  CHECK(overwritten.different.at(0).value == "x");
  RunComparer comparer(graph);
  comparer.begin_run();
  comparer.value(*graph.find_value("y"), floats({1}));
  comparer.end_run();
  comparer.begin_run();
  comparer.end_run();
  CHECK(comparer.result().different.at(0).reason == "this run did not produce it");
}

TEST_CASE("RepeatCheck_ManyResults_AreCounted") {
  const Graph graph = chain();
  std::vector<Values> runs(20);
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].y[0] = static_cast<float>(i);
  const RepeatCheck check = compared(graph, runs).result();
  CHECK(check.groups.size() == RepeatCheck::max_groups);
  CHECK(check.more_groups == 4);
}

TEST_CASE("RepeatCheck_InATraceFile_IsReadAgain_AndVerified") {
  const Graph graph = chain();
  Values wrong;
  wrong.b[3] = 4.5f;
  wrong.y[3] = 20.25f;
  const Trace trace = trace_of({}, compared(graph, {{}, wrong, {}, wrong}));
  const auto bytes = write_trace(trace);
  REQUIRE_MESSAGE(bytes.ok(), bytes.error().message);
  const auto read = read_trace(*bytes);
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read->tensors.size() == 4);
  CHECK(read->later.size() == 2);
  const auto view = TraceView::open(*bytes);
  REQUIRE(view.ok());
  CHECK(view->size() == 4);
  ThreadPool threads(1);
  for (const TraceView& each : {TraceView(*read), *view}) {
    const auto verified = verify(graph, "", each, threads);
    REQUIRE_MESSAGE(verified.ok(), verified.error().message);
    REQUIRE(verified->repeats);
    REQUIRE(verified->repeats->different.size() == 2);
    const JudgedDifference& first = verified->repeats->different[0];
    CHECK(first.first == Verdict::identical);
    CHECK(first.later == Verdict::fault);
    REQUIRE(first.metrics);
    CHECK(first.metrics->different_elements == 1);
    CHECK(first.metrics->max_abs == 0.5);
    // The recorded run is right; the whole is a fault for the later one.
    CHECK(verified->verdict == Verdict::fault);
    CHECK(verified->first_fault == "second");
    CHECK(count_layers(*verified, Verdict::fault) == 0);
    CHECK(
        repeats_text(*verified->repeats) ==
        "run 2 differs from run 1, first at second (Add): 1 of 4 elements, by up to 0.5 (2 of 4 values "
        "differ); run 1 is right: identical, run 2 is wrong: fault; run 4 differs from run 1, first at "
        "second (Add): 1 of 4 elements, by up to 0.5 (2 of 4 values differ); run 1 is right: identical, run "
        "4 is wrong: fault; 2 runs from 1 to 3 agree, 2 runs from 2 to 4 agree");
  }
}

TEST_CASE("RepeatCheck_WrongOnlyTheFirstTime_BlamesTheFirstRun") {
  const Graph graph = chain();
  Values wrong;
  wrong.b[3] = 4.5f;
  wrong.y[3] = 20.25f;
  const Trace trace = trace_of(wrong, compared(graph, {wrong, {}, {}}));
  ThreadPool threads(1);
  const auto verified = verify(graph, "", trace, threads);
  REQUIRE(verified.ok());
  REQUIRE(verified->repeats);
  CHECK(verified->repeats->different.at(0).first == Verdict::fault);
  CHECK(verified->repeats->different.at(0).later == Verdict::identical);
  CHECK(repeats_text(*verified->repeats).find("runs 2 to 3 agree") != std::string::npos);
}

TEST_CASE("Record_CompareRuns_WantsEveryRun_AndKeepsTheFirst") {
  const auto graph = std::make_shared<const Graph>(chain());
  FadingSession session(*graph);
  RecordOptions options;
  options.repeat = 3;
  options.compare_runs = true;
  const auto trace = record(graph, session, {floats(Values().x)}, options);
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  CHECK(trace->tensors.size() == 4);
  REQUIRE(trace->find("b") != nullptr);
  CHECK(trace->find("b")->values<float>()[3] == 4.0f);
  const auto check = repeat_check_of(*trace);
  REQUIRE(check);
  CHECK(check->runs == 3);
  REQUIRE(check->different.size() == 2);
  CHECK(check->different[0].node == "second");
  CHECK(trace->later.size() == 2);
}

TEST_CASE("RepeatCheck_DamagedDescriptions_NeverHurt") {
  const Graph graph = chain();
  Values wrong;
  wrong.b[3] = 4.5f;
  const auto bytes = write_trace(trace_of({}, compared(graph, {{}, wrong})));
  REQUIRE(bytes.ok());
  const std::uint64_t seed = test_seed(20);
  SEED_INFO(seed);
  Rng rng(seed);
  ThreadPool threads(1);
  int read = 0;
  for (int i = 0; i < repetitions(2000); ++i) {
    const auto damaged = mutated(*bytes, rng);
    const auto view = TraceView::open(damaged);
    if (!view.ok()) continue;
    ++read;
    const auto verified = verify(graph, "", *view, threads);
    if (verified.ok() && verified->repeats) CHECK_FALSE(repeats_text(*verified->repeats).empty());
  }
  CHECK(read > 0);
}

}  // namespace driftscope::test::repeat_check_test
