// The session of a peer over a runtime that responds late, as in a browser.
#include "core/engines/peer/session.hpp"

#include <doctest/doctest.h>

#include "core/eval/infer_shapes.hpp"
#include "core/trace/record.hpp"
#include "core/verify/verify.hpp"
#include "unit/support/model_builder.hpp"

namespace driftscope::test::peer_session_test {
namespace {

const peer::PeerInfo& fake_peer() {
  static const peer::PeerInfo info = {.engine = {}, .title = "Other Runtime", .version = "1.2"};
  return info;
}

/// Ready at the second poll, finished at the second as well; every value is [its index].
class LateModel final : public peer::RuntimeModel {
 public:
  Result<bool> ready() override { return ++asked_ready > 1; }
  Status run(std::span<const NamedTensor> inputs, std::span<const std::string> outputs, bool) override {
    given = inputs.size();
    ++runs;
    wanted.assign(outputs.begin(), outputs.end());
    asked_result = 0;
    return {};
  }
  Result<std::optional<peer::RunResult>> result() override {
    if (fails) return peer::said(fake_peer(), ErrorKind::unsupported, "no");
    if (++asked_result < 2) return std::optional<peer::RunResult>();
    peer::RunResult result{{}, 17, times};
    for (const std::string& name : wanted)
      if (name == "inner" && instead)
        result.values.push_back({name, *instead});
      else
        result.values.push_back({name, tensor<float>({1}, {static_cast<float>(result.values.size())})});
    return std::optional<peer::RunResult>(std::move(result));
  }
  Result<std::vector<std::byte>> rewritten() override { return std::vector<std::byte>(); }
  bool reserve(std::span<const peer::ExpectedValue> values) override {
    reserved.clear();
    for (const peer::ExpectedValue& value : values) reserved.push_back(value.name);
    return has_room;
  }
  void describe(RanWith& ran) const override { ran.threads_real = 3; }

  int asked_ready = 0;
  int asked_result = 0;
  std::size_t given = 0;
  int runs = 0;
  std::vector<std::pair<std::string, std::int64_t>> times;
  std::vector<std::string> wanted;
  bool fails = false;
  bool has_room = false;
  std::vector<std::string> reserved;
  std::optional<Tensor> instead;  // of "inner"
};

class Collector final : public TraceSink {
 public:
  bool wants(ValueId) const override { return wanting; }
  Status value(ValueId id, const Tensor&) override {
    seen.push_back(id);
    return {};
  }
  void node_done(NodeId node, std::int64_t time_ns) override { times.emplace_back(node, time_ns); }
  void unattributed_time(std::int64_t time_ns) override { whole_ns = time_ns; }
  bool wanting = true;
  std::vector<ValueId> seen;
  std::vector<std::pair<NodeId, std::int64_t>> times;
  std::int64_t whole_ns = 0;
};

struct Rig {
  std::shared_ptr<const Graph> graph =
      std::make_shared<const Graph>(built(ModelBuilder()
                                              .input("x", DType::float32, {1})
                                              .node("Relu", {"x"}, {"inner"})
                                              .node("Neg", {"inner"}, {"y"})
                                              .output("y")));
  LateModel* model = new LateModel;
  peer::PeerSession session{
      graph, {std::unique_ptr<peer::RuntimeModel>(model), {"inner"}, {{"form", "plain"}}}, {}};
  Collector trace_sink;

  Status start() { return session.start({tensor<float>({1}, {1.0F})}, trace_sink); }
  std::string name(std::size_t i) { return graph->value_name(trace_sink.seen.at(i)); }
};

}  // namespace

TEST_CASE("PeerSession_WaitsUntilTheRuntimeIsReadyAndThenUntilItHasRun") {
  Rig rig;
  REQUIRE(rig.start().ok());
  const auto poll = [&] {
    const auto progress = rig.session.poll(0);
    REQUIRE(progress.ok());
    return *progress;
  };
  Progress progress = poll();
  CHECK(progress.waiting);
  CHECK(progress.preparing);
  CHECK(rig.session.ran_with().threads_real == 1);
  progress = poll();
  CHECK(progress.waiting);
  CHECK_FALSE(progress.preparing);
  progress = poll();
  CHECK(progress.finished());
  CHECK_FALSE(progress.waiting);
  CHECK(rig.session.ran_with().threads_real == 3);
  REQUIRE(rig.trace_sink.seen.size() == 3);
  CHECK(rig.name(0) == "x");
  CHECK(rig.name(1) == "inner");
  CHECK(rig.name(2) == "y");
  CHECK(rig.trace_sink.times.empty());  // the runtime knows no more than the whole
  CHECK(rig.trace_sink.whole_ns == 17);
  const auto outputs = rig.session.finish();
  REQUIRE(outputs.ok());
  CHECK(outputs->at(0).values<float>()[0] == 0);  // the graph's own outputs are requested first
}

TEST_CASE("PeerSession_RunThatNobodyWatches_AsksForTheOutputsAlone") {
  Rig rig;
  rig.trace_sink.wanting = false;
  for (int i = 0; i < 2; ++i) {
    REQUIRE(rig.start().ok());
    while (!rig.session.poll(0)->finished()) continue;
    CHECK(rig.model->wanted == std::vector<std::string>{"y"});
    CHECK(rig.trace_sink.seen.empty());
    REQUIRE(rig.session.finish().ok());
  }
}

TEST_CASE("PeerSession_WatchedForm_IsMadeForTheRunsThatAreWatchedAlone") {
  Rig rig;
  auto* const plain = new LateModel;
  auto* const traced = new LateModel;
  int made = 0;
  peer::PeerSession session(rig.graph, {std::unique_ptr<peer::RuntimeModel>(plain), {}, {}}, {}, {}, [&] {
    ++made;
    return Result<peer::ModelForm>(
        peer::ModelForm{std::unique_ptr<peer::RuntimeModel>(traced), {"inner"}, {{"form", "traced"}}});
  });
  const auto run = [&](bool wanting) {
    rig.trace_sink.wanting = wanting;
    REQUIRE(session.start({tensor<float>({1}, {1.0F})}, rig.trace_sink).ok());
    while (!session.poll(0)->finished()) continue;
    REQUIRE(session.finish().ok());
  };
  run(false);
  CHECK(made == 0);
  run(true);
  run(false);
  run(true);
  CHECK(made == 1);
  CHECK(traced->wanted == std::vector<std::string>{"y", "inner"});
  CHECK(plain->wanted == std::vector<std::string>{"y"});
  CHECK(session.ran_with().options.at("form") == "traced");
}

TEST_CASE("PeerSession_RuntimeThatFails_IsAnErrorInItsWords") {
  Rig rig;
  rig.model->fails = true;
  REQUIRE(rig.start().ok());
  (void)rig.session.poll(0);
  const auto progress = rig.session.poll(0);
  REQUIRE_FALSE(progress.ok());
  CHECK(progress.error().message.find("Other Runtime 1.2 says: no") != std::string::npos);
}

TEST_CASE("PeerSession_CapturedValuesBeyondTheLimit_ComeInSeveralRuns") {
  Rig rig;
  auto* const model = new LateModel;
  peer::SessionLimits limits;
  limits.capture_bytes = 4;  // one value of one float
  const auto graph = std::make_shared<const Graph>(*infer_shapes(built(ModelBuilder()
                                                                           .input("x", DType::float32, {1})
                                                                           .node("Relu", {"x"}, {"a"})
                                                                           .node("Neg", {"a"}, {"b"})
                                                                           .node("Abs", {"b"}, {"y"})
                                                                           .output("y"))));
  peer::PeerSession session(graph, {std::unique_ptr<peer::RuntimeModel>(model), {"a", "b"}, {}}, {}, limits);
  REQUIRE(session.start({tensor<float>({1}, {1.0F})}, rig.trace_sink).ok());
  while (!session.poll(0)->finished()) continue;
  REQUIRE(session.finish().ok());
  CHECK(model->runs == 2);
  CHECK(model->wanted == std::vector<std::string>{"y", "b"});
  CHECK(rig.trace_sink.seen.size() == 4);  // x, a, b, y
  CHECK(session.ran_with().options.at("captured_in") == "2 runs");
}

TEST_CASE("PeerSession_CapturedValuesBeyondTheLimit_ComeAtOnceWhereTheRuntimeHasRoomForThem") {
  Rig rig;
  auto* const model = new LateModel;
  model->has_room = true;
  peer::SessionLimits limits;
  limits.capture_bytes = 4;  // one value of one float
  const auto graph = std::make_shared<const Graph>(*infer_shapes(built(ModelBuilder()
                                                                           .input("x", DType::float32, {1})
                                                                           .node("Relu", {"x"}, {"a"})
                                                                           .node("Neg", {"a"}, {"b"})
                                                                           .node("Abs", {"b"}, {"y"})
                                                                           .output("y"))));
  peer::PeerSession session(graph, {std::unique_ptr<peer::RuntimeModel>(model), {"a", "b"}, {}}, {}, limits);
  REQUIRE(session.start({tensor<float>({1}, {1.0F})}, rig.trace_sink).ok());
  while (!session.poll(0)->finished()) continue;
  REQUIRE(session.finish().ok());
  CHECK(model->runs == 1);
  CHECK(model->reserved == std::vector<std::string>{"a", "b"});
  CHECK(rig.trace_sink.seen.size() == 4);  // x, a, b, y
  CHECK_FALSE(session.ran_with().options.contains("captured_in"));
  // The runtime holds them also when nobody wants them: they stay where there is room.
  REQUIRE(session.start({tensor<float>({1}, {1.0F})}, no_trace_sink()).ok());
  while (!session.poll(0)->finished()) continue;
  REQUIRE(session.finish().ok());
  CHECK(model->wanted == std::vector<std::string>{"y", "a", "b"});
}

TEST_CASE("PeerSession_TimesOfNodes_AreThoseOfTheRuntime") {
  Rig rig;
  rig.model->times = {{"inner", 5}, {"y", 7}, {"unknown", 9}};
  REQUIRE(rig.start().ok());
  while (!rig.session.poll(0)->finished()) continue;
  CHECK(rig.trace_sink.times == std::vector<std::pair<NodeId, std::int64_t>>{{0, 5}, {1, 7}});
}

TEST_CASE("PeerSession_RuntimeThatNeverBecomesReady_IsGivenUpByName") {
  class Hung final : public peer::RuntimeModel {
   public:
    Result<bool> ready() override { return false; }
    Status run(std::span<const NamedTensor>, std::span<const std::string>, bool) override { return {}; }
    Result<std::optional<peer::RunResult>> result() override { return std::optional<peer::RunResult>(); }
    Result<std::vector<std::byte>> rewritten() override { return std::vector<std::byte>(); }
    void describe(RanWith&) const override {}
  };
  Rig rig;
  peer::PeerSession session(rig.graph, {std::make_unique<Hung>(), {}, {}}, {},
                            {"Other Runtime 1.2", 1'000'000});
  REQUIRE(session.start({tensor<float>({1}, {1.0F})}, rig.trace_sink).ok());
  while (true) {
    const auto progress = session.poll(0);
    if (progress.ok()) {
      CHECK(progress->preparing);
      continue;
    }
    CHECK(progress.error().kind == ErrorKind::limit);
    CHECK(progress.error().message.find("Other Runtime 1.2 has not finished loading the model") == 0);
    break;
  }
}

TEST_CASE("PeerSession_RuntimeThatGivesAnotherShapeOrDtype_IsTheFaultOfThatLayer") {
  ThreadPool threads(1);
  for (const Tensor& instead : {tensor<float>({2}, {1.0F, 2.0F}), tensor<float>({1, 1}, {1.0F}),
                                tensor<std::int32_t>({1}, {1}), tensor<double>({1}, {1.0})}) {
    Rig rig;
    rig.model->instead = instead;
    const auto trace = record(rig.graph, rig.session, {tensor<float>({1}, {1.0F})}, {});
    REQUIRE_MESSAGE(trace.ok(), trace.error().message);
    const auto verification = verify(*rig.graph, "", *trace, threads);
    REQUIRE_MESSAGE(verification.ok(), verification.error().message);
    CHECK(verification->verdict == Verdict::fault);
    CHECK(verification->first_fault == "Relu_0");
    REQUIRE_FALSE(verification->layers.empty());
    CAPTURE(reason_of(verification->layers[0]));
    CHECK(reason_of(verification->layers[0]).find("expected") != std::string::npos);
  }
}

TEST_CASE("PeerSession_WithoutAnEventLoop_RunToEndGivesUp") {
  Rig rig;
  const auto outputs = run_to_end(rig.session, {tensor<float>({1}, {1.0F})}, rig.trace_sink);
  REQUIRE_FALSE(outputs.ok());
  CHECK(outputs.error().message.find("event loop") != std::string::npos);
}

}  // namespace driftscope::test::peer_session_test
