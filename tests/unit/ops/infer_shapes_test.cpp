#include <doctest/doctest.h>

#include "core/eval/infer_shapes.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::infer_shapes_test {
namespace {

std::string shape_of(const Graph& graph, const std::string& name) {
  const auto id = graph.find_value(name);
  REQUIRE(id);
  const auto& shape = graph.values[*id].shape;
  return shape ? shape_text(*shape) : "unknown";
}

ModelBuilder batch_model() {
  ModelBuilder model;
  model.input("x", DType::float32, {"N", 3, 4}).node("Relu", {"x"}, {"y"}).output("y");
  return model;
}

}  // namespace

TEST_CASE("InferShapes_SymbolicBatch_IsCarriedThrough") {
  const auto graph = infer_shapes(built(batch_model()));
  REQUIRE(graph.ok());
  CHECK(shape_of(*graph, "y") == "Nx3x4");
}

TEST_CASE("BindShapes_ReplacesSymbolsEverywhere") {
  const std::vector<Shape> shapes = {{5, 3, 4}};
  const auto graph = bind_shapes(built(batch_model()), shapes);
  REQUIRE(graph.ok());
  CHECK(shape_of(*graph, "x") == "5x3x4");
  CHECK(shape_of(*graph, "y") == "5x3x4");
}

TEST_CASE("BindShapes_WrongRankSizeOrSymbol_SaysExpectedAndGot") {
  const auto message = [](const ModelBuilder& model, std::vector<Shape> shapes) {
    const auto graph = bind_shapes(built(model), shapes);
    REQUIRE(!graph.ok());
    CHECK(graph.error().kind == ErrorKind::bad_input);
    return graph.error().message;
  };
  CHECK(message(batch_model(), {{5, 3}}) == "input x: expected shape Nx3x4, got 5x3");
  CHECK(message(batch_model(), {{5, 3, 7}}) == "input x: expected shape Nx3x4, got 5x3x7");
  CHECK(message(batch_model(), {}) == "the graph has 1 inputs, got 0 shapes");
  ModelBuilder two;
  two.input("a", DType::float32, {"N", 2})
      .input("b", DType::float32, {"N", 2})
      .node("Add", {"a", "b"}, {"y"})
      .output("y");
  CHECK(message(two, {{3, 2}, {4, 2}}) == "input b: expected shape Nx2, got 4x2 (N is already 3)");
}

TEST_CASE("InferShapes_ShapeFromConstantNode_IsUsed") {
  ModelBuilder model;
  model.input("x", DType::float32, {2, 12})
      .node("Constant", {}, {"shape"}, {tensor_attribute("value", tensor<std::int64_t>({3}, {2, 3, -1}))})
      .node("Reshape", {"x", "shape"}, {"y"})
      .output("y");
  const auto graph = infer_shapes(built(model));
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  CHECK(shape_of(*graph, "y") == "2x3x4");
}

TEST_CASE("InferShapes_DeclaredShapeContradicts_NamesTheNode") {
  ModelBuilder model;
  model.opset(13)
      .input("x", DType::float32, {2, 3})
      .node("Relu", {"x"}, {"y"})
      .named("activation")
      .output("y", DType::float32, {2, 4});
  const auto graph = infer_shapes(built(model));
  REQUIRE(!graph.ok());
  CHECK(graph.error().message ==
        "node activation (Relu, opset 13): output y: the model declares shape 2x4, the operator "
        "makes 2x3");
}

TEST_CASE("InferShapes_UnknownOperator_NamesNodeOperatorAndOpset") {
  ModelBuilder model;
  model.opset(17).input("x", DType::float32, {2}).node("Frobnicate", {"x"}, {"y"}).named("n7").output("y");
  const auto graph = infer_shapes(built(model));
  REQUIRE(!graph.ok());
  CHECK(graph.error().kind == ErrorKind::unsupported);
  for (const char* part : {"n7", "Frobnicate", "17"})
    CHECK(graph.error().message.find(part) != std::string::npos);
}

TEST_CASE("FindOperator_WrongNumberOfInputs_SaysExpectedAndGot") {
  ModelBuilder model;
  model.opset(17).input("x", DType::float32, {2}).node("Add", {"x"}, {"y"}).named("sum").output("y");
  const auto graph = infer_shapes(built(model));
  REQUIRE(!graph.ok());
  CHECK(graph.error().message == "node sum (Add, opset 17): expected 2 inputs, got 1");
}

}  // namespace driftscope::test::infer_shapes_test
