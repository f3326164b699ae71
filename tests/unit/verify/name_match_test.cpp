// Traces with other names than the model's values.
#include <doctest/doctest.h>

#include "core/base/json.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/compare.hpp"
#include "core/verify/name_match.hpp"
#include "tests/unit/support/model_builder.hpp"
#include "tests/unit/support/seed.hpp"
#include "tests/unit/support/text.hpp"

namespace driftscope::test::name_match_test {
namespace {

/// x [2,3] → Relu → a [2,3] → Transpose → b [3,2] → Neg → c [3,2] → Abs → y [3,2].
Graph graph() {
  ModelBuilder model;
  model.input("x", DType::float32, {2, 3})
      .node("Relu", {"x"}, {"a"})
      .named("first")
      .node("Transpose", {"a"}, {"b"})
      .named("second")
      .node("Neg", {"b"}, {"c"})
      .named("third")
      .node("Abs", {"c"}, {"y"})
      .named("fourth")
      .output("y");
  auto inferred = infer_shapes(built(model));
  REQUIRE_MESSAGE(inferred.ok(), inferred.error().message);
  return *std::move(inferred);
}

Tensor of(Shape shape) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  return tensor<float>(std::move(shape), std::vector<float>(count, 0.0f));
}

/// Tensors by name; shapes as in the graph: "x" and "a" [2,3], the others [3,2].
Trace trace_of(const std::vector<std::pair<std::string, Shape>>& tensors) {
  Trace trace;
  for (const auto& [name, shape] : tensors) trace.tensors.push_back({name, of(shape)});
  return trace;
}

const Shape wide = {2, 3};
const Shape high = {3, 2};

std::vector<std::string> matched(const Trace& trace) { return match_names(graph(), TraceView(trace)).names; }

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("NameMatch_SameNames_AreLeftAlone") {
  const Trace trace = trace_of({{"x", wide}, {"a", wide}, {"y", high}});
  const NameMatch match = match_names(graph(), TraceView(trace));
  CHECK(match.plain());
  CHECK(match.names == Names{"x", "a", "y"});
  CHECK(name_match_text(match) == "");
}

TEST_CASE("NameMatch_OtherNames_AreMatchedByPositionAndShape") {
  const Trace all = trace_of({{"in", wide}, {"1", wide}, {"2", high}, {"3", high}, {"out", high}});
  CHECK(matched(all) == Names{"x", "a", "b", "c", "y"});
  const NameMatch match = match_names(graph(), TraceView(all));
  CHECK(match.unmatched.empty());
  CHECK(name_match_text(match) ==
        "5 values matched by position and shape ('in' is 'x', '1' is 'a', '2' is 'b', …)");
  const Trace between = trace_of({{"x", wide}, {"1", wide}, {"b", high}, {"3", high}, {"y", high}});
  CHECK(matched(between) == Names{"x", "a", "b", "c", "y"});
}

TEST_CASE("NameMatch_OrderOfNodes_CountsBeforeThatOfTheFile") {
  Trace trace = trace_of({{"out", high}, {"3", high}, {"2", high}, {"1", wide}, {"x", wide}});
  trace.nodes = {{"n1", "Relu", {"1"}, {5}},
                 {"n2", "Transpose", {"2"}, {6}},
                 {"n3", "Neg", {"3"}, {7}},
                 {"n4", "Abs", {"out"}, {8}}};
  const Graph model = graph();
  const NameMatch match = match_names(model, TraceView(trace));
  CHECK(match.names == Names{"y", "c", "b", "a", "x"});
  rename_values(model, match, trace);
  CHECK(trace.tensors[1].name == "c");
  CHECK(trace.nodes[1].name == "second");  // times are found by the model's names
  CHECK(trace.nodes[3].outputs == Names{"y"});
  CHECK(holds(name_match_text(trace), "4 values matched"));
  CHECK(parse_json(trace.run)["matched_by_position"]["count"] == 4);
}

TEST_CASE("NameMatch_WhatFitsInSeveralWays_IsNotGuessed") {
  // One of three [3,2] values is present, but not known which. The [2,3] one is certain.
  const Trace trace = trace_of({{"x", wide}, {"1", wide}, {"2", high}});
  const NameMatch match = match_names(graph(), TraceView(trace));
  CHECK(match.names == Names{"x", "a", "2"});
  CHECK(match.unmatched == Names{"2"});
  CHECK(holds(name_match_text(match), "1 tensor of the trace is not a value of the model ('2')"));
  // Too many of one shape: no assignment is possible.
  const Trace many = trace_of({{"x", wide}, {"1", wide}, {"2", wide}, {"y", high}});
  CHECK(matched(many) == Names{"x", "1", "2", "y"});
}

TEST_CASE("NameMatch_OtherShapeOrType_FitsNothing") {
  Trace trace = trace_of({{"x", wide}, {"1", {6}}, {"2", high}, {"3", high}, {"4", high}});
  CHECK(matched(trace) == Names{"x", "1", "b", "c", "y"});
  trace.tensors[1] = {"1", tensor<std::int64_t>({2, 3}, {1, 2, 3, 4, 5, 6})};
  CHECK(matched(trace) == Names{"x", "1", "b", "c", "y"});
}

TEST_CASE("NameMatch_AlphabeticalOrder_MatchesNothingByPosition") {
  // As in files of libraries that sort by name: "c" before "b" is detected, and positions mean nothing.
  const Trace trace = trace_of({{"1", wide}, {"c", high}, {"b", high}, {"y", high}});
  CHECK(matched(trace) == Names{"1", "c", "b", "y"});
}

TEST_CASE("NameMatch_TraceThatSaysItsModel_HasStrangersOnly") {
  Trace trace = trace_of({{"x", wide}, {"1", wide}, {"y", high}});
  trace.model_sha256 = "ab";
  const NameMatch match = match_names(graph(), TraceView(trace));
  CHECK(match.by_position.empty());
  CHECK(match.unmatched == Names{"1"});
}

TEST_CASE("NameMatch_EmptyTrace_IsPlain") { CHECK(match_names(graph(), TraceView(trace_of({}))).plain()); }

TEST_CASE("NameMatch_NoteOfAHostileTrace_IsNotTrusted") {
  Trace trace;
  for (const char* run : {"{\"matched_by_position\":7}", "{\"unmatched\":{\"count\":-1,\"tensors\":[]}}",
                          "{\"unmatched\":{\"count\":1,\"tensors\":[7,\"\\u001b[2J\"]}}", "[]", "x"}) {
    trace.run = run;
    CHECK(!holds(name_match_text(trace), "\x1b"));
  }
}

TEST_CASE("NameMatch_OfAHundredThousandLayers_EndsSoon") {
  constexpr int layers = repetitions(100'000);
  ModelBuilder model;
  model.input("x", DType::float32, {2});
  Trace trace = trace_of({{"in", {2}}});
  for (int i = 0; i < layers; ++i) {
    const auto name = [](int k) { return k < 0 ? std::string("x") : "v" + std::to_string(k); };
    model.node("Relu", {name(i - 1)}, {name(i)});
    trace.tensors.push_back({"t" + std::to_string(i), trace.tensors[0].tensor});
  }
  model.output("v" + std::to_string(layers - 1));
  auto large = infer_shapes(built(model));
  REQUIRE(large.ok());
  const NameMatch match = match_names(*large, TraceView(trace));
  CHECK(match.by_position.size() == layers + 1);
  CHECK(match.names.back() == "v" + std::to_string(layers - 1));
}

}  // namespace driftscope::test::name_match_test
