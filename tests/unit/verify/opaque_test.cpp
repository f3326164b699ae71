// Operators without a reference: their layers are unjudged, everything around them is judged; our own engines
// refuse the model by what it lacks.
#include <doctest/doctest.h>

#include "core/eval/infer_shapes.hpp"
#include "core/graph/print.hpp"
#include "core/graph/topology.hpp"
#include "core/platform/platform.hpp"
#include "core/runtime/engine.hpp"
#include "core/verify/compare.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::opaque_test {
namespace {

/// x → Relu → a → com.example.Twice → b → Neg → c → com.example.Twice → d → Abs → y.
Graph graph() {
  ModelBuilder model;
  model.opset("com.example", 1)
      .input("x", DType::float32, {"N", 2})
      .node("Relu", {"x"}, {"a"})
      .node("Twice", {"a"}, {"b"}, {}, "com.example")
      .named("first")
      .node("Neg", {"b"}, {"c"})
      .node("Twice", {"c"}, {"d"}, {}, "com.example")
      .named("second")
      .node("Abs", {"d"}, {"y"})
      .output("y");
  auto inferred = infer_shapes(built(model));
  REQUIRE_MESSAGE(inferred.ok(), inferred.error().message);
  return *std::move(inferred);
}

Trace trace_of(const std::vector<std::string>& names) {
  const std::vector<std::pair<std::string, std::vector<float>>> values = {
      {"x", {-1, 3}}, {"a", {0, 3}}, {"b", {0, 6}}, {"c", {-0.0f, -6}}, {"d", {-0.0f, -12}}, {"y", {0, 12}}};
  Trace trace;
  for (const auto& [name, numbers] : values)
    if (std::ranges::find(names, name) != names.end())
      trace.tensors.push_back({name, tensor<float>({1, 2}, numbers)});
  return trace;
}

Verification verified(const Trace& trace) {
  ThreadPool threads(1);
  auto result = verify(graph(), "", trace, threads);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  return *std::move(result);
}

const LayerVerdict& layer(const Verification& verification, const std::string& output) {
  for (const LayerVerdict& one : verification.layers)
    if (one.output == output) return one;
  FAIL("no layer " << output);
  return verification.layers.front();
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("Verify_UnknownOperator_IsUnjudgedAndTheRestIsJudged") {
  const Verification verification = verified(trace_of({"x", "a", "b", "c", "d", "y"}));
  CHECK(verification.verdict == Verdict::unjudged);
  REQUIRE(verification.layers.size() == 5);
  for (const char* output : {"a", "c", "y"}) CHECK(layer(verification, output).verdict == Verdict::identical);
  for (const char* output : {"b", "d"}) {
    const LayerVerdict& opaque = layer(verification, output);
    CHECK(opaque.verdict == Verdict::unjudged);
    CHECK(holds(reason_of(opaque), "operator Twice (domain com.example, opset 1) is not known"));
  }
}

TEST_CASE("Verify_FaultBehindAnUnknownOperator_IsFound") {
  Trace trace = trace_of({"x", "a", "b", "c", "d", "y"});
  for (NamedTensor& named : trace.tensors)
    if (named.name == "y") named.tensor.mutable_values<float>()[1] = 13;
  const Verification verification = verified(trace);
  CHECK(verification.first_fault == "Abs_4");
}

TEST_CASE("Verify_UnknownOperatorInsideAGroup_SaysWhy") {
  const Verification verification = verified(trace_of({"x", "y"}));
  REQUIRE(verification.layers.size() == 1);
  CHECK(verification.verdict == Verdict::unjudged);
  CHECK(holds(reason_of(verification.layers[0]), "operator Twice"));
  // Nothing before the operator is needed: not even the input of the graph.
  CHECK(layer(verified(trace_of({"d", "y"})), "y").verdict == Verdict::identical);
}

TEST_CASE("Compare_UnknownOperator_ItsOutputsAreCompared") {
  const Trace left = trace_of({"x", "b", "y"});
  Trace right = trace_of({"x", "b", "y"});
  right.tensors[1].tensor.mutable_values<float>()[1] = 5;
  const auto comparison = compare(graph(), left, right);
  REQUIRE_MESSAGE(comparison.ok(), comparison.error().message);
  REQUIRE(comparison->layers.size() == 2);
  CHECK(comparison->layers[0].metrics.different_elements == 1);
  CHECK(comparison->first_divergence == "first");
}

TEST_CASE("Engines_OfOurs_NameEveryOperatorThatTheyLack") {
  const auto bound = bind_shapes(graph(), std::vector<Shape>{{1, 2}});
  REQUIRE_MESSAGE(bound.ok(), bound.error().message);
  for (const char* name : {"strict", "reference", "fast"}) {
    const auto engine = find_engine(name);
    REQUIRE(engine.ok());
    const auto session = (*engine)->prepare(std::make_shared<const Graph>(*bound), {});
    REQUIRE(!session.ok());
    CHECK(session.error().kind == ErrorKind::unsupported);
    CHECK(holds(session.error().message, "com.example.Twice (2 nodes)"));
    CHECK(holds(session.error().message, "first"));
  }
}

TEST_CASE("TopologyAndText_OfUnknownOperators_AreWhole") {
  CHECK(topology_of(graph()).nodes.size() == 5);
  CHECK(holds(print_graph(graph()), "com.example.Twice"));
}

}  // namespace driftscope::test::opaque_test
