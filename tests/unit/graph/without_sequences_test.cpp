// Sequences and optionals disappear when a graph is built: what is left computes what they stood for.
#include "core/graph/without_sequences.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/engines/strict/session.hpp"
#include "core/eval/infer_shapes.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::without_sequences_test {
namespace {

// The outputs of a model with these inputs.
std::vector<Tensor> outputs_of(const ModelBuilder& model, const std::vector<Tensor>& inputs) {
  auto graph = infer_shapes(built(model));
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  StrictSession session(std::make_shared<const Graph>(*std::move(graph)), simd_targets().front(), 1, {});
  const auto prepared = session.prepare();
  REQUIRE_MESSAGE(prepared.ok(), prepared.error().message);
  auto outputs = run_to_end(session, inputs, no_trace_sink());
  REQUIRE_MESSAGE(outputs.ok(), outputs.error().message);
  return *std::move(outputs);
}

void check(const Tensor& got, const Shape& shape, const std::vector<float>& values) {
  CHECK(got.shape() == shape);
  REQUIRE(got.values<float>().size() == values.size());
  CHECK(std::ranges::equal(got.values<float>(), values));
}

bool has_operator(const Graph& graph, std::string_view op_type) {
  return std::ranges::find(graph.nodes, op_type, &Node::op_type) != graph.nodes.end();
}

Tensor numbers(Shape shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return tensor<float>(std::move(shape), values);
}

Tensor scalar(std::int64_t value) { return tensor<std::int64_t>({}, {value}); }

TEST_CASE("a part of a tensor that is split into single ones") {
  for (const std::int64_t keeps : {0, 1}) {
    const ModelBuilder model =
        ModelBuilder()
            .input("x", DType::float32, {2, 3})
            .initializer("last", scalar(-1))
            .node("SplitToSequence", {"x"}, {"parts"}, {integer("axis", 1), integer("keepdims", keeps)})
            .node("SequenceAt", {"parts", "last"}, {"y"})
            .node("SequenceLength", {"parts"}, {"n"})
            .output("y")
            .output("n");
    const auto outputs = outputs_of(model, {numbers({2, 3})});
    check(outputs[0], keeps != 0 ? Shape{2, 1} : Shape{2}, {2.0f, 5.0f});
    CHECK(outputs[1].shape().empty());
    CHECK(outputs[1].values<std::int64_t>()[0] == 3);
  }
}

TEST_CASE("a part whose place is computed") {
  const ModelBuilder model = ModelBuilder()
                                 .input("x", DType::float32, {3, 2})
                                 .input("at", DType::int64, {})
                                 .node("SplitToSequence", {"x"}, {"parts"}, {integer("axis", 0)})
                                 .node("SequenceAt", {"parts", "at"}, {"y"})
                                 .output("y");
  check(outputs_of(model, {numbers({3, 2}), scalar(1)})[0], {1, 2}, {2.0f, 3.0f});
}

TEST_CASE("parts of a given size, of which the last is smaller") {
  const auto part = [](std::int64_t at) {
    const ModelBuilder model = ModelBuilder()
                                   .input("x", DType::float32, {5, 1})
                                   .initializer("size", scalar(2))
                                   .initializer("at", scalar(at))
                                   .node("SplitToSequence", {"x", "size"}, {"parts"}, {integer("axis", 0)})
                                   .node("SequenceAt", {"parts", "at"}, {"y"})
                                   .output("y");
    return outputs_of(model, {numbers({5, 1})})[0];
  };
  check(part(1), {2, 1}, {2.0f, 3.0f});
  check(part(2), {1, 1}, {4.0f});
}

TEST_CASE("parts of given sizes, in opset 11 and since") {
  for (const std::int64_t opset : {11, 13, 18}) {
    const ModelBuilder model = ModelBuilder()
                                   .opset(opset)
                                   .input("x", DType::float32, {5})
                                   .initializer("sizes", tensor<std::int64_t>({2}, {1, 4}))
                                   .initializer("second", scalar(1))
                                   .node("SplitToSequence", {"x", "sizes"}, {"parts"})
                                   .node("SequenceAt", {"parts", "second"}, {"y"})
                                   .output("y");
    check(outputs_of(model, {numbers({5})})[0], {4}, {1.0f, 2.0f, 3.0f, 4.0f});
  }
}

TEST_CASE("a list that is made, changed and joined") {
  for (const std::int64_t opset : {11, 13}) {
    const ModelBuilder model =
        ModelBuilder()
            .opset(opset)
            .input("a", DType::float32, {2})
            .input("b", DType::float32, {2})
            .initializer("first", scalar(0))
            .node("SequenceConstruct", {"a", "a"}, {"two"})
            .node("SequenceInsert", {"two", "b", "first"}, {"three"})
            .node("SequenceErase", {"three"}, {"again"})
            .node("Identity", {"again"}, {"same"})
            .node("ConcatFromSequence", {"same"}, {"joined"}, {integer("axis", 0)})
            .node("ConcatFromSequence", {"same"}, {"stacked"}, {integer("axis", 1), integer("new_axis", 1)})
            .output("joined")
            .output("stacked");
    const auto outputs =
        outputs_of(model, {tensor<float>({2}, {1.0f, 2.0f}), tensor<float>({2}, {3.0f, 4.0f})});
    check(outputs[0], {4}, {3.0f, 4.0f, 1.0f, 2.0f});
    check(outputs[1], {2, 2}, {3.0f, 1.0f, 4.0f, 2.0f});
  }
}

TEST_CASE("places are counted from the end of the list as it is") {
  const ModelBuilder model = ModelBuilder()
                                 .input("a", DType::float32, {1})
                                 .input("b", DType::float32, {1})
                                 .initializer("last", scalar(-1))
                                 .initializer("end", scalar(2))
                                 .node("SequenceConstruct", {"a", "a"}, {"two"})
                                 .node("SequenceInsert", {"two", "b", "last"}, {"three"})
                                 .node("ConcatFromSequence", {"three"}, {"y"}, {integer("axis", 0)})
                                 .node("SequenceInsert", {"two", "b", "end"}, {"other"})
                                 .node("SequenceAt", {"other", "last"}, {"z"})
                                 .output("y")
                                 .output("z");
  const auto outputs = outputs_of(model, {tensor<float>({1}, {1.0f}), tensor<float>({1}, {3.0f})});
  check(outputs[0], {3}, {1.0f, 3.0f, 1.0f});
  check(outputs[1], {1}, {3.0f});
}

TEST_CASE("a list that a Loop fills is what the Loop stacks") {
  const ModelBuilder body = ModelBuilder("body")
                                .input("i", DType::int64, {})
                                .input("go", DType::boolean, {})
                                .input("list", DType::float32, {})
                                .node("Cast", {"i"}, {"number"}, {integer("to", 1)})
                                .node("Mul", {"x", "number"}, {"item"})
                                .node("SequenceInsert", {"list", "item"}, {"longer"})
                                .output("go")
                                .output("longer");
  const ModelBuilder model =
      ModelBuilder()
          .input("x", DType::float32, {2})
          .initializer("times", scalar(3))
          .initializer("yes", tensor<std::uint8_t>({}, {1}))
          .node("SequenceEmpty", {}, {"none"})
          .node("Loop", {"times", "", "none"}, {"all"})
          .graph_attribute("body", body.graph_message())
          .node("ConcatFromSequence", {"all"}, {"y"}, {integer("axis", 0), integer("new_axis", 1)})
          .output("y");
  check(outputs_of(model, {tensor<float>({2}, {1.0f, 2.0f})})[0], {3, 2},
        {0.0f, 0.0f, 1.0f, 2.0f, 2.0f, 4.0f});
}

TEST_CASE("optionals") {
  const ModelBuilder model = ModelBuilder()
                                 .input("x", DType::float32, {2})
                                 .node("Optional", {"x"}, {"some"})
                                 .node("OptionalHasElement", {"some"}, {"yes"})
                                 .node("OptionalGetElement", {"some"}, {"y"})
                                 .node("Optional", {}, {"none"})
                                 .node("OptionalHasElement", {"none"}, {"no"})
                                 .output("yes")
                                 .output("no")
                                 .output("y");
  const auto outputs = outputs_of(model, {numbers({2})});
  CHECK(outputs[0].values<std::uint8_t>()[0] == 1);
  CHECK(outputs[1].values<std::uint8_t>()[0] == 0);
  check(outputs[2], {2}, {0.0f, 1.0f});
}

TEST_CASE("an optional that an If may have made is not taken for a tensor") {
  const ModelBuilder branch = ModelBuilder("branch").node("Optional", {"x"}, {"o"}).output("o");
  const Graph graph = built(ModelBuilder()
                                .input("c", DType::boolean, {})
                                .input("x", DType::float32, {2})
                                .node("If", {"c"}, {"o"})
                                .graph_attribute("then_branch", branch.graph_message())
                                .graph_attribute("else_branch", branch.graph_message())
                                .node("OptionalHasElement", {"o"}, {"has"})
                                .output("has"));
  CHECK(has_operator(graph, "OptionalHasElement"));
}

TEST_CASE("nodes keep their names, and those without a place to go are left") {
  const Graph graph = built(ModelBuilder()
                                .input("x", DType::float32, {2})
                                .node("SequenceConstruct", {"x"}, {"list"})
                                .node("SequenceLength", {"list"}, {"n"})
                                .named("length")
                                .output("n"));
  REQUIRE(graph.nodes.size() == 1);
  CHECK(graph.nodes[0].name == "length");
  const Graph dynamic = built(ModelBuilder()
                                  .input("x", DType::float32, {2})
                                  .input("at", DType::int64, {})
                                  .node("SequenceConstruct", {"x", "x"}, {"list"})
                                  .node("SequenceAt", {"list", "at"}, {"y"})
                                  .output("y"));
  CHECK(has_operator(dynamic, "SequenceConstruct"));
  CHECK(has_operator(dynamic, "SequenceAt"));
}

TEST_CASE("a place outside of the list, an empty list, and a chain without end are left") {
  const Graph outside = built(ModelBuilder()
                                  .input("x", DType::float32, {2})
                                  .initializer("third", scalar(2))
                                  .node("SequenceConstruct", {"x", "x"}, {"list"})
                                  .node("SequenceAt", {"list", "third"}, {"y"})
                                  .output("y"));
  CHECK(has_operator(outside, "SequenceAt"));
  const Graph empty = built(ModelBuilder()
                                .input("x", DType::float32, {2})
                                .node("SequenceEmpty", {}, {"list"})
                                .node("SequenceErase", {"list"}, {"less"})
                                .node("SequenceLength", {"less"}, {"n"})
                                .output("n"));
  CHECK(has_operator(empty, "SequenceErase"));
  ModelBuilder chain;
  chain.input("x", DType::float32, {2}).node("SequenceEmpty", {}, {"list0"});
  for (int i = 0; i < 3000; ++i)
    chain.node("SequenceInsert", {"list" + std::to_string(i), "x"}, {"list" + std::to_string(i + 1)});
  CHECK(has_operator(built(chain.node("SequenceLength", {"list3000"}, {"n"}).output("n")), "SequenceInsert"));
}

}  // namespace
}  // namespace driftscope::test::without_sequences_test
