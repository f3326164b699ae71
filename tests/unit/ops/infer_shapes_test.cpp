#include <doctest/doctest.h>

#include "core/eval/infer_shapes.hpp"
#include "core/graph/legacy.hpp"
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
  const std::string unequal = message(two, {{3, 2}, {4, 2}});
  CHECK(unequal.find("Add_0") != std::string::npos);
  CHECK(unequal.find("dimension name 'N': 3 in one place, 4 in b") != std::string::npos);
}

TEST_CASE("BindShapes_OneNameForDifferentSizes_IsNotedWhereNodesTakeThem") {
  ModelBuilder model;
  model.input("a", DType::float32, {"N", 3})
      .input("b", DType::float32, {3, "N"})
      .node("MatMul", {"a", "b"}, {"y"})
      .output("y", DType::float32, {"N", "N"});
  const std::vector<Shape> shapes = {{2, 3}, {3, 4}};
  const auto graph = bind_shapes(built(model), shapes);
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  CHECK(shape_of(*graph, "y") == "2x4");
  REQUIRE(graph->notes.size() == 1);
  CHECK(graph->notes[0].kind == NoteKind::unequal_symbol);
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

TEST_CASE("InferShapes_DeclaredShapeContradicts_TheOperatorsIsTakenAndNoted") {
  ModelBuilder model;
  model.input("x", DType::float32, {2, 3})
      .node("Relu", {"x"}, {"y"})
      .named("activation")
      .node("Neg", {"y"}, {"z"})
      .value_info("y", DType::float32, {6})
      .output("z", DType::float32, {2, 4});
  const auto graph = infer_shapes(built(model));
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  CHECK(shape_of(*graph, "y") == "2x3");
  CHECK(shape_of(*graph, "z") == "2x3");
  REQUIRE(graph->notes.size() == 2);
  CHECK(graph->notes[0] == ModelNote{NoteKind::declared_shape, "activation", "y", "6", "2x3"});
  CHECK(graph->notes[1].value == "z");
  // Binding notes nothing twice.
  const auto bound = bind_shapes(*graph, std::vector<Shape>{{2, 3}});
  REQUIRE(bound.ok());
  CHECK(bound->notes.size() == 2);
}

TEST_CASE("BindShapes_DeclaredShapeContradictsTheseSizes_IsNoted") {
  ModelBuilder model;
  model.input("x", DType::float32, {"N", 3}).node("Relu", {"x"}, {"y"}).output("y", DType::float32, {1, 3});
  const auto graph = infer_shapes(built(model));
  REQUIRE(graph.ok());
  CHECK(graph->notes.empty());
  const auto bound = bind_shapes(*graph, std::vector<Shape>{{2, 3}});
  REQUIRE_MESSAGE(bound.ok(), bound.error().message);
  CHECK(shape_of(*bound, "y") == "2x3");
  REQUIRE(bound->notes.size() == 1);
  CHECK(bound->notes[0].declared == "1x3");
}

TEST_CASE("InferShapes_DeclaredTypeContradicts_NamesTheNode") {
  ModelBuilder model;
  model.opset(13).input("x", DType::float32, {2}).node("Relu", {"x"}, {"y"}).output("y", DType::float64, {2});
  const auto graph = infer_shapes(built(model));
  REQUIRE(!graph.ok());
  CHECK(graph.error().message ==
        "node Relu_0 (Relu, opset 13): output y: the model declares float64, the operator makes float32");
}

TEST_CASE("InferShapes_UnknownOperator_IsOpaqueAndNothingFollowsFromIt") {
  ModelBuilder model;
  model.opset(17)
      .opset("com.example", 1)
      .input("x", DType::float32, {2})
      .node("Frobnicate", {"x"}, {"a", "b"}, {}, "com.example")
      .named("n7")
      .node("Relu", {"a"}, {"y"})
      .node("Relu", {"x"}, {"z"})
      .value_info("b", DType::int64, {5})
      .output("y")
      .output("z")
      .output("b");
  const auto graph = infer_shapes(built(model));
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  for (const char* part : {"n7", "Frobnicate", "com.example", "opset 1"})
    CHECK(graph->nodes[0].opaque.find(part) != std::string::npos);
  CHECK(shape_of(*graph, "y") == "unknown");
  CHECK(shape_of(*graph, "b") == "5");  // as declared
  CHECK(shape_of(*graph, "z") == "2");
  CHECK(graph->nodes[1].opaque.empty());
  REQUIRE(graph->notes.size() == 1);
  CHECK(graph->notes[0].kind == NoteKind::opaque_operator);
  CHECK(graph->notes[0].value == "com.example.Frobnicate");
  const auto bound = bind_shapes(*graph, std::vector<Shape>{{2}});
  REQUIRE_MESSAGE(bound.ok(), bound.error().message);
  CHECK(shape_of(*bound, "b") == "unknown");  // what is declared plans no memory
  CHECK(bound->notes.size() == 1);
}

TEST_CASE("InferShapes_OpsetsBeyondTheKnown_AreOpaque") {
  const auto opaque = [](std::int64_t opset, const std::vector<Attribute>& attributes = {}) {
    ModelBuilder model;
    model.opset(opset)
        .input("x", DType::float32, {2})
        .initializer("s", tensor<float>({}, {0.5f}))
        .node("QuantizeLinear", {"x", "s"}, {"y"}, attributes)
        .output("y");
    const auto graph = infer_shapes(built(model));
    REQUIRE_MESSAGE(graph.ok(), graph.error().message);
    return graph->nodes[0].opaque;
  };
  CHECK(opaque(max_known_opset).empty());
  CHECK(opaque(max_known_opset + 1).find("newer than opset") != std::string::npos);
  // What an opset after 21 added, and our kernel does not do.
  CHECK(opaque(23, {integer("precision", 0)}).empty());
  CHECK(opaque(23, {integer("precision", 10)}).find("precision = 10") != std::string::npos);
}

TEST_CASE("InferShapes_UnknownOperatorInsideABranch_IsOpaqueThere") {
  const auto branch = [](const std::string& op) {
    return ModelBuilder(op).node(op, {"x"}, {op + "_out"}).output(op + "_out").graph_message();
  };
  ModelBuilder model;
  model.input("x", DType::float32, {2})
      .input("c", DType::boolean, {})
      .node("If", {"c"}, {"y"})
      .graph_attribute("then_branch", branch("Frobnicate"))
      .graph_attribute("else_branch", branch("Relu"))
      .output("y");
  const auto graph = infer_shapes(built(model));
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  CHECK(graph->nodes[0].opaque.empty());
  CHECK_FALSE(graph->nodes[0].subgraphs[0].graph->nodes[0].opaque.empty());
  REQUIRE(graph->notes.size() == 1);
  CHECK(graph->notes[0].value == "Frobnicate");
}

// As PyTorch's exporter writes a flattening: the batch is a symbol, and allowzero is set.
TEST_CASE("InferShapes_ReshapeWithAllowzeroAndAnUnknownSize_TakesItForNoZero") {
  const auto y = [](const std::vector<std::int64_t>& last) {
    ModelBuilder model;
    model.input("x", DType::float32, {"N", 2, 3})
        .initializer("at", tensor<std::int64_t>({1}, {0}))
        .initializer("last", tensor<std::int64_t>({static_cast<std::int64_t>(last.size())}, last))
        .node("Shape", {"x"}, {"sizes"})
        .node("Gather", {"sizes", "at"}, {"n"})
        .node("Concat", {"n", "last"}, {"shape"}, {integer("axis", 0)})
        .node("Reshape", {"x", "shape"}, {"y"}, {integer("allowzero", 1)})
        .output("y");
    return infer_shapes(built(model));
  };
  const auto flat = y({-1});
  REQUIRE_MESSAGE(flat.ok(), flat.error().message);
  CHECK(shape_of(*flat, "y") == "Nx6");
  const auto bound = bind_shapes(*flat, std::vector<Shape>{{4, 2, 3}});
  REQUIRE_MESSAGE(bound.ok(), bound.error().message);
  CHECK(shape_of(*bound, "y") == "4x6");
  const auto real_zero = y({0, -1});
  REQUIRE(!real_zero.ok());
  CHECK(real_zero.error().message.find("allowzero") != std::string::npos);
}

TEST_CASE("FindOperator_WrongNumberOfInputs_SaysExpectedAndGot") {
  ModelBuilder model;
  model.opset(17).input("x", DType::float32, {2}).node("Add", {"x"}, {"y"}).named("sum").output("y");
  const auto graph = infer_shapes(built(model));
  REQUIRE(!graph.ok());
  CHECK(graph.error().message == "node sum (Add, opset 17): expected 2 inputs, got 1");
}

}  // namespace driftscope::test::infer_shapes_test
