#include <doctest/doctest.h>

#include "core/platform/platform.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/trace/record.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/seed.hpp"
#include "tests/unit/verify/small_nets.hpp"

namespace driftscope::test::reference_engine_test {
namespace {

std::unique_ptr<Session> session_for(const std::shared_ptr<const Graph>& graph,
                                     const EngineOptions& options = {}) {
  const auto engine = find_engine("reference");
  REQUIRE(engine.ok());
  auto session = (*engine)->prepare(graph, options);
  REQUIRE_MESSAGE(session.ok(), session.error().message);
  return *std::move(session);
}

}  // namespace

TEST_CASE("Reference_OwnTrace_IsIdentical") {
  const std::uint64_t seed = test_seed(3);
  SEED_INFO(seed);
  for (const Kind kind : {Kind::normal, Kind::image, Kind::huge, Kind::tiny}) {
    Rng rng(seed);
    const Shape shape = {2, 3, 13, 11};
    const Graph graph = convolutional_net(rng, shape);
    const auto bound = bind_inputs(graph, {{"x", drawn(shape, kind, rng)}});
    REQUIRE_MESSAGE(bound.ok(), bound.error().message);
    const auto session = session_for(bound->graph, {.threads = 2, .values = {}});
    const auto trace = record(bound->graph, *session, bound->inputs, {});
    REQUIRE_MESSAGE(trace.ok(), trace.error().message);
    ThreadPool threads(2);
    const auto verification = verify(graph, "", *trace, threads);
    REQUIRE_MESSAGE(verification.ok(), verification.error().message);
    CHECK(verification->verdict == Verdict::identical);
    for (const LayerVerdict& layer : verification->layers) {
      CAPTURE(layer.node);
      CHECK(layer.verdict == Verdict::identical);
      CHECK(layer.metrics.different_elements == 0);
    }
  }
}

TEST_CASE("Reference_NodeOutputs_AreRoundedBeforeTheNextNode") {
  // (1 + 2⁻²⁵) is 1 in float32; kept in double the difference would survive.
  ModelBuilder model;
  model.input("x", DType::float32, {1})
      .initializer("tiny", tensor<float>({1}, {0x1p-25f}))
      .initializer("minus_one", tensor<float>({1}, {-1.0f}))
      .node("Add", {"x", "tiny"}, {"a"})
      .node("Add", {"a", "minus_one"}, {"y"})
      .output("y");
  const auto bound = bind_inputs(built(model), {{"x", tensor<float>({1}, {1.0f})}});
  REQUIRE(bound.ok());
  const auto session = session_for(bound->graph);
  const auto outputs = run_to_end(*session, bound->inputs, no_trace_sink());
  REQUIRE(outputs.ok());
  CHECK((*outputs)[0].values<float>()[0] == 0.0f);
}

TEST_CASE("Reference_UnknownOptionOrOperator_IsAnError") {
  ModelBuilder model;
  model.input("x", DType::float32, {1}).node("Relu", {"x"}, {"y"}).output("y");
  const auto graph = std::make_shared<const Graph>(built(model));
  const auto engine = find_engine("reference");
  const auto session = (*engine)->prepare(graph, {.threads = 1, .values = {{"speed", "11"}}});
  REQUIRE(!session.ok());
  CHECK(session.error().message.find("speed") != std::string::npos);
  ModelBuilder unknown;
  unknown.input("x", DType::float32, {1}).node("Frobnicate", {"x"}, {"y"}).output("y");
  const auto other = (*engine)->prepare(std::make_shared<const Graph>(built(unknown)), {});
  REQUIRE(!other.ok());
  CHECK(other.error().kind == ErrorKind::unsupported);
}

TEST_CASE("Session_CanRunAgain_AndRefusesWrongOrder") {
  ModelBuilder model;
  model.input("x", DType::float32, {2}).node("Relu", {"x"}, {"y"}).output("y");
  const auto bound = bind_inputs(built(model), {{"x", tensor<float>({2}, {-1, 2})}});
  REQUIRE(bound.ok());
  const auto session = session_for(bound->graph);
  CHECK(!session->poll(1).ok());
  CHECK(!session->finish().ok());
  for (int i = 0; i < 2; ++i) {
    const auto outputs = run_to_end(*session, bound->inputs, no_trace_sink());
    REQUIRE(outputs.ok());
    CHECK((*outputs)[0].values<float>()[1] == 2.0f);
  }
  CHECK(!session->start({}, no_trace_sink()).ok());
}

}  // namespace driftscope::test::reference_engine_test
