#include <doctest/doctest.h>

#include "core/base/json.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/trace/record.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::record_test {
namespace {

struct Prepared {
  BoundInputs bound;
  std::unique_ptr<Session> session;
};

Prepared prepared(const ModelBuilder& model) {
  Prepared result;
  const Graph graph = built(model);
  const auto inputs = seeded_inputs(graph, 1);
  REQUIRE(inputs.ok());
  auto bound = bind_inputs(graph, *inputs);
  REQUIRE_MESSAGE(bound.ok(), bound.error().message);
  result.bound = *std::move(bound);
  auto session = (*find_engine("reference"))->prepare(result.bound.graph, {});
  REQUIRE(session.ok());
  result.session = *std::move(session);
  return result;
}

ModelBuilder chain() {
  ModelBuilder model;
  model.input("x", DType::float32, {4})
      .node("Relu", {"x"}, {"a"})
      .named("first")
      .node("Tanh", {"a"}, {"b"})
      .node("Add", {"a", "b"}, {"y"})
      .output("y");
  return model;
}

std::vector<std::string> names(const Trace& trace) {
  std::vector<std::string> result;
  for (const NamedTensor& tensor : trace.tensors) result.push_back(tensor.name);
  return result;
}

}  // namespace

TEST_CASE("Record_All_HoldsInputsAndEveryOutputInOrder") {
  const Prepared p = prepared(chain());
  const auto trace = record(p.bound.graph, *p.session, p.bound.inputs, {});
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  CHECK(names(*trace) == std::vector<std::string>{"x", "a", "b", "y"});
  REQUIRE(trace->nodes.size() == 3);
  CHECK(trace->nodes[0].name == "first");
  CHECK(trace->nodes[1].name == "Tanh_1");
  CHECK(trace->nodes[2].op == "Add");
  CHECK(trace->nodes[2].outputs == std::vector<std::string>{"y"});
  CHECK(trace->find("b") != nullptr);
  CHECK(trace->find("z") == nullptr);
  CHECK(trace->memory.size() >= 2);
}

TEST_CASE("Record_OutputsOnly_KeepsTheInputsForVerify") {
  const Prepared p = prepared(chain());
  const auto trace =
      record(p.bound.graph, *p.session, p.bound.inputs, {.capture = Capture::outputs, .repeat = 1});
  REQUIRE(trace.ok());
  CHECK(names(*trace) == std::vector<std::string>{"x", "y"});
}

// Two nodes that run as one, as reported by an engine that fuses: "a" never exists.
class FusingSession final : public Session {
 public:
  explicit FusingSession(const Graph& graph) : graph_(graph) {}
  Status start(std::vector<Tensor> inputs, TraceSink& trace_sink) override {
    if (trace_sink.wants(graph_.inputs[0])) CHECK(trace_sink.value(graph_.inputs[0], inputs[0]).ok());
    trace_sink_ = &trace_sink;
    last_ = inputs[0];
    return {};
  }
  Result<Progress> poll(std::int64_t /*budget_ns*/) override {
    for (const NodeId node : {1, 2}) {
      const ValueId output = graph_.nodes[node].outputs[0];
      if (trace_sink_->wants(output)) CHECK(trace_sink_->value(output, last_).ok());
      trace_sink_->node_done(node, 5);
    }
    return Progress{3, 3};
  }
  Result<std::vector<Tensor>> finish() override { return std::vector<Tensor>{last_}; }
  [[nodiscard]] RanWith ran_with() const override { return {}; }

 private:
  const Graph& graph_;
  TraceSink* trace_sink_ = nullptr;
  Tensor last_;
};

TEST_CASE("Record_Fused_HoldsWhatTheEngineHandsOver") {
  const Prepared p = prepared(chain());
  FusingSession session(*p.bound.graph);
  const auto trace = record(p.bound.graph, session, p.bound.inputs, {.capture = Capture::fused, .repeat = 2});
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  CHECK(names(*trace) == std::vector<std::string>{"x", "b", "y"});
  REQUIRE(trace->nodes.size() == 3);
  CHECK(trace->nodes[0].time_ns.empty());
  CHECK(trace->nodes[1].time_ns == std::vector<std::int64_t>{5, 5});
  CHECK(parse_json(trace->run)["capture"] == "fused");
}

TEST_CASE("Capture_Names_GoThereAndBack") {
  for (const Capture capture : {Capture::all, Capture::fused, Capture::outputs})
    CHECK(capture_from(capture_name(capture)) == capture);
  CHECK(!capture_from("everything"));
}

TEST_CASE("Record_Repetitions_AreAllTimedButCapturedOnce") {
  const Prepared p = prepared(chain());
  Recording recording(p.bound.graph, *p.session, p.bound.inputs, {.capture = Capture::all, .repeat = 3});
  CHECK(!recording.take().ok());
  std::int64_t last = 0;
  while (true) {
    const auto progress = recording.poll(0);  // at least one node each
    REQUIRE(progress.ok());
    CHECK(progress->total == 9);
    CHECK(progress->done > last);
    last = progress->done;
    if (progress->finished()) break;
  }
  const auto trace = recording.take();
  REQUIRE(trace.ok());
  CHECK(trace->tensors.size() == 4);
  for (const NodeRecord& node : trace->nodes) CHECK(node.time_ns.size() == 3);
}

TEST_CASE("Record_Run_SaysWhatRan") {
  const Prepared p = prepared(chain());
  const auto trace = record(p.bound.graph, *p.session, p.bound.inputs, {});
  REQUIRE(trace.ok());
  const auto run = parse_json(trace->run);
  CHECK(run["engine"] == "reference");
  CHECK(run["threads_real"].get<int>() >= 1);
  const auto start = run["start_time"].get<std::string>();
  CHECK(start.size() == 20);
  CHECK(start.substr(0, 2) == "20");
  CHECK(start.back() == 'Z');
}

TEST_CASE("Record_GraphWithoutNodes_Ends") {
  ModelBuilder model;
  model.input("x", DType::float32, {1}).output("x");
  const Prepared p = prepared(model);
  const auto trace = record(p.bound.graph, *p.session, p.bound.inputs, {});
  REQUIRE(trace.ok());
  CHECK(names(*trace) == std::vector<std::string>{"x"});
}

TEST_CASE("Record_NoRepetition_IsAnError") {
  const Prepared p = prepared(chain());
  CHECK(!record(p.bound.graph, *p.session, p.bound.inputs, {.capture = Capture::all, .repeat = 0}).ok());
}

}  // namespace driftscope::test::record_test
