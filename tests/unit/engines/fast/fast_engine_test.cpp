// The fast engine against verify and against strict: whole networks, fused and node by node.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "core/engine/bind_inputs.hpp"
#include "core/platform/platform.hpp"
#include "core/trace/record.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/seed.hpp"
#include "tests/unit/verify/small_nets.hpp"

namespace driftscope::test::fast_engine_test {
namespace {

Trace run(const Graph& graph, const NamedInputs& inputs, Capture capture, int threads,
          const char* engine_name = "fast", RanWith* ran = nullptr) {
  const auto bound = bind_inputs(graph, inputs);
  REQUIRE_MESSAGE(bound.ok(), bound.error().message);
  const auto engine = find_engine(engine_name);
  REQUIRE(engine.ok());
  EngineOptions options;
  options.threads = threads;
  options.fuse = capture != Capture::all;
  const auto session = (*engine)->prepare(bound->graph, options);
  REQUIRE_MESSAGE(session.ok(), session.error().message);
  // Twice: what the first run leaves behind must not show.
  auto trace = record(bound->graph, **session, bound->inputs, {.capture = capture, .repeat = 2});
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  if (ran != nullptr) *ran = (*session)->ran_with();
  return *std::move(trace);
}

void check_clean(const Graph& graph, const Trace& trace, ThreadPool& threads) {
  const auto verification = verify(graph, "", trace, threads);
  REQUIRE_MESSAGE(verification.ok(), verification.error().message);
  CHECK(!verification->layers.empty());
  for (const LayerVerdict& layer : verification->layers) {
    CAPTURE(layer.node);
    CAPTURE(layer.reason);
    CAPTURE(layer.budget_used);
    CAPTURE(layer.budget_used_statistical);
    CHECK((layer.verdict == Verdict::identical || layer.verdict == Verdict::rounding));
  }
}

std::set<std::string> names_of(const Trace& trace) {
  std::set<std::string> names;
  for (const NamedTensor& tensor : trace.tensors) names.insert(tensor.name);
  return names;
}

}  // namespace

TEST_CASE("FastEngine_ConvolutionalNet_IsNeverSuspect") {
  const std::uint64_t first = test_seed(20261121);
  SEED_INFO(first);
  ThreadPool threads(2);
  for (std::uint64_t seed = first; seed < first + repetitions(8); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const Shape shape = {static_cast<std::int64_t>(1 + rng.below(2)), 3,
                         static_cast<std::int64_t>(9 + rng.below(8)),
                         static_cast<std::int64_t>(9 + rng.below(8))};
    const Graph graph = convolutional_net(rng, shape);
    const NamedInputs inputs = {{"x", drawn(shape, all_kinds[seed % all_kinds.size()], rng)}};
    for (const int count : {1, 2})
      for (const Capture capture : {Capture::all, Capture::fused, Capture::outputs}) {
        CAPTURE(count);
        CAPTURE(static_cast<int>(capture));
        check_clean(graph, run(graph, inputs, capture, count), threads);
      }
  }
}

TEST_CASE("FastEngine_NodeByNode_HandsOverEveryValue") {
  Rng rng(3);
  const Shape shape = {1, 3, 12, 12};
  const Graph graph = convolutional_net(rng, shape);
  const NamedInputs inputs = {{"x", drawn(shape, Kind::normal, rng)}};
  CHECK(names_of(run(graph, inputs, Capture::all, 1)) ==
        names_of(run(graph, inputs, Capture::all, 1, "strict")));
}

TEST_CASE("FastEngine_Fused_HandsOverWhatExists") {
  Rng rng(3);
  const Shape shape = {1, 3, 12, 12};
  const Graph graph = convolutional_net(rng, shape);
  const NamedInputs inputs = {{"x", drawn(shape, Kind::normal, rng)}};
  const std::set<std::string> names = names_of(run(graph, inputs, Capture::fused, 1));
  CHECK(names.contains("n2"));   // the convolution that took in its normalization
  CHECK(!names.contains("c2"));
  CHECK(names.contains("c1"));   // read by two nodes: not fused
  CHECK(names.contains("r1"));
  CHECK(names.contains("y"));
}

TEST_CASE("FastEngine_NothingForStrict_SaysNothing") {
  Rng rng(3);
  const Shape shape = {1, 3, 12, 12};
  RanWith ran;
  run(convolutional_net(rng, shape), {{"x", drawn(shape, Kind::normal, rng)}}, Capture::all, 2,
      "fast", &ran);
  CHECK(ran.engine == "fast");
  CHECK(ran.options.count("on_strict") == 0);
  CHECK(ran.threads_asked == 2);
  CHECK(ran.threads_real == (threads_available() ? 2 : 1));
}

TEST_CASE("FastEngine_WhatXnnpackLacks_RunsOnStrictAndIsNamed") {
  const Graph graph = built(ModelBuilder()
                                .input("x", DType::float32, {1, 2, 3, 4})
                                .node("Cos", {"x"}, {"a"})
                                .node("Relu", {"a"}, {"b"})
                                .node("CumSum", {"b", "axis"}, {"c"})
                                .initializer("axis", tensor<std::int64_t>({}, {1}))
                                .node("Cos", {"c"}, {"y"})
                                .output("y"));
  Rng rng(1);
  const NamedInputs inputs = {{"x", drawn({1, 2, 3, 4}, Kind::normal, rng)}};
  RanWith ran;
  ThreadPool threads(1);
  check_clean(graph, run(graph, inputs, Capture::all, 1, "fast", &ran), threads);
  CHECK(ran.options.at("on_strict") == "Cos 2, CumSum 1");
}

TEST_CASE("FastEngine_UnknownOption_ListsTheOptions") {
  const Graph graph = built(ModelBuilder()
                                .input("x", DType::float32, {1})
                                .node("Relu", {"x"}, {"y"})
                                .output("y"));
  const auto session = (**find_engine("fast"))
                           .prepare(std::make_shared<const Graph>(graph),
                                    {.threads = 1, .values = {{"simd", "128"}}});
  REQUIRE(!session.ok());
  CHECK(session.error().kind == ErrorKind::bad_input);
  CHECK(session.error().message.find("simd") != std::string::npos);
  CHECK(session.error().message.find("threads") != std::string::npos);
}

}  // namespace driftscope::test::fast_engine_test
