#include "core/graph/passes/passes.hpp"

#include <doctest/doctest.h>

#include "core/graph/print.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::passes_test {
namespace {

// The lines of nodes and outputs: what passes change.
std::string nodes_of(const Graph& graph) {
  std::string result;
  const std::string text = print_graph(graph);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin) + 1;
    const std::string line = text.substr(begin, end - begin);
    if (line.find(" = ") != std::string::npos && line.rfind("const", 0) != 0) result += line;
    begin = end;
  }
  return result;
}

ModelBuilder convolution(const std::vector<std::string>& inputs = {"x", "w"}) {
  ModelBuilder model;
  model.input("x", DType::float32, {1, 1, 2, 2})
      .initializer("w", tensor<float>({2, 1, 1, 1}, {3.0f, -4.0f}))
      .initializer("b", tensor<float>({2}, {0.5f, 0.25f}))
      .node("Conv", inputs, {"c"})
      .named("conv");
  return model;
}

ModelBuilder& with_statistics(ModelBuilder& model) {
  return model.initializer("scale", tensor<float>({2}, {2.0f, 1.0f}))
      .initializer("shift", tensor<float>({2}, {10.0f, 20.0f}))
      .initializer("mean", tensor<float>({2}, {1.0f, -2.0f}))
      .initializer("var", tensor<float>({2}, {4.0f, 0.25f}));
}

std::vector<float> constant(const Graph& graph, std::string_view name) {
  const auto id = graph.find_value(name);
  REQUIRE(id);
  const auto values = graph.values[*id].constant->values<float>();
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("RemoveIdentities_BetweenNodes_ReadersTakeItsInput") {
  const Graph graph = built(ModelBuilder()
                                .input("x", DType::float32, {2})
                                .node("Identity", {"x"}, {"a"})
                                .node("Dropout", {"a"}, {"b"})
                                .node("Add", {"b", "a"}, {"c"})
                                .output("c"));
  CHECK(nodes_of(graph) ==
        "Identity_0 = Identity(x) -> a: ? (unknown rank)\n"
        "Dropout_1 = Dropout(a) -> b: ? (unknown rank)\n"
        "Add_2 = Add(b, a) -> c: ? (unknown rank)\n");
  const Graph after = remove_identities(graph);
  CHECK(nodes_of(after) == "Add_2 = Add(x, x) -> c: ? (unknown rank)\n");
  CHECK(after.values[*after.find_value("c")].producer == 0);
  CHECK(after.values[*after.find_value("a")].producer == no_node);
}

TEST_CASE("RemoveIdentities_OutputsMasksAndTraining_AreLeft") {
  const Graph graph = built(ModelBuilder()
                                .input("x", DType::float32, {2})
                                .initializer("ratio", tensor<float>({}, {0.5f}))
                                .initializer("yes", tensor<std::uint8_t>({}, {1}))
                                .node("Identity", {"x"}, {"y"})
                                .node("Dropout", {"x"}, {"d", "mask"})
                                .node("Dropout", {"x", "ratio", "yes"}, {"t"})
                                .node("Add", {"d", "t"}, {"z"})
                                .output("y")
                                .output("z"));
  CHECK(nodes_of(remove_identities(graph)) == nodes_of(graph));
}

TEST_CASE("FoldBatchNormalization_BehindConv_MovesIntoWeightsAndBias") {
  ModelBuilder model = convolution({"x", "w", "b"});
  with_statistics(model)
      .node("BatchNormalization", {"c", "scale", "shift", "mean", "var"}, {"n"}, {real("epsilon", 0.0f)})
      .node("Relu", {"n"}, {"y"})
      .output("y");
  const Graph graph = built(model);
  CHECK(nodes_of(graph) ==
        "conv = Conv(x, w, b) -> c: ? (unknown rank)\n"
        "BatchNormalization_1 = BatchNormalization[epsilon=0](c, scale, shift, mean, var) -> n: ? "
        "(unknown rank)\n"
        "Relu_2 = Relu(n) -> y: ? (unknown rank)\n");
  const Graph after = fold_batch_normalization(graph);
  CHECK(nodes_of(after) ==
        "conv = Conv(x, conv.weight, conv.bias) -> n: ? (unknown rank)\n"
        "Relu_2 = Relu(n) -> y: ? (unknown rank)\n");
  // Factors 2/√4 = 1 and 1/√0.25 = 2.
  CHECK(constant(after, "conv.weight") == std::vector<float>{3.0f, -8.0f});
  CHECK(constant(after, "conv.bias") == std::vector<float>{9.5f, 24.5f});
  CHECK(constant(after, "w") == std::vector<float>{3.0f, -4.0f});
}

TEST_CASE("FoldBatchNormalization_BehindGemmAndConvTranspose_ScalesTheRightAxis") {
  ModelBuilder model;
  model.input("x", DType::float32, {1, 2})
      .input("i", DType::float32, {1, 2, 1, 1})
      .initializer("w", tensor<float>({2, 2}, {1.0f, 2.0f, 3.0f, 4.0f}))
      .initializer("t", tensor<float>({2, 1, 1, 2}, {1.0f, 2.0f, 3.0f, 4.0f}))
      .node("Gemm", {"x", "w"}, {"g"})
      .named("gemm")
      .node("ConvTranspose", {"i", "t"}, {"d"}, {integer("group", 2)})
      .named("deconv");
  with_statistics(model)
      .node("BatchNormalization", {"g", "scale", "shift", "mean", "var"}, {"y"}, {real("epsilon", 0.0f)})
      .node("BatchNormalization", {"d", "scale", "shift", "mean", "var"}, {"z"}, {real("epsilon", 0.0f)})
      .output("y")
      .output("z");
  const Graph after = fold_batch_normalization(built(model));
  CHECK(after.nodes.size() == 2);
  CHECK(constant(after, "gemm.weight") == std::vector<float>{1.0f, 4.0f, 3.0f, 8.0f});
  CHECK(constant(after, "deconv.weight") == std::vector<float>{1.0f, 2.0f, 6.0f, 8.0f});
  CHECK(constant(after, "gemm.bias") == std::vector<float>{9.0f, 24.0f});
}

TEST_CASE("FoldBatchNormalization_WhenSomebodyElseReadsTheConv_IsLeft") {
  ModelBuilder model = convolution();
  with_statistics(model)
      .node("BatchNormalization", {"c", "scale", "shift", "mean", "var"}, {"n"})
      .node("Add", {"n", "c"}, {"y"})
      .output("y");
  const Graph graph = built(model);
  CHECK(nodes_of(fold_batch_normalization(graph)) == nodes_of(graph));
}

TEST_CASE("FoldPads_ZerosBeforeConvAndPool_BecomeTheirPads") {
  ModelBuilder model;
  model.input("x", DType::float32, {1, 1, 4, 4})
      .initializer("w", tensor<float>({1, 1, 3, 3}, std::vector<float>(9, 1.0f)))
      .initializer("pads", tensor<std::int64_t>({8}, {0, 0, 1, 2, 0, 0, 3, 4}))
      .initializer("zero", tensor<float>({}, {0.0f}))
      .node("Pad", {"x", "pads", "zero"}, {"p"})
      .node("Conv", {"p", "w"}, {"c"}, {ints("pads", {1, 0, 0, 0})})
      .node("Pad", {"c", "pads"}, {"q"})
      .node("AveragePool", {"q"}, {"y"}, {ints("kernel_shape", {3, 3})})
      .output("y");
  const Graph after = fold_pads(built(model));
  CHECK(nodes_of(after) ==
        "Conv_1 = Conv[pads=[2,2,3,4] auto_pad='NOTSET'](x, w) -> c: ? (unknown rank)\n"
        "AveragePool_3 = AveragePool[kernel_shape=[3,3] pads=[1,2,3,4] auto_pad='NOTSET' "
        "count_include_pad=1](c) -> y: ? (unknown rank)\n");
}

TEST_CASE("FoldPads_OtherFillsReadersAndAxes_AreLeft") {
  ModelBuilder model;
  model.input("x", DType::float32, {1, 1, 4, 4})
      .initializer("w", tensor<float>({1, 1, 3, 3}, std::vector<float>(9, 1.0f)))
      .initializer("pads", tensor<std::int64_t>({8}, {0, 0, 1, 1, 0, 0, 1, 1}))
      .initializer("channels", tensor<std::int64_t>({8}, {0, 1, 0, 0, 0, 0, 0, 0}))
      .initializer("one", tensor<float>({}, {1.0f}))
      .node("Pad", {"x", "pads", "one"}, {"a"})
      .node("Conv", {"a", "w"}, {"b"})
      .node("Pad", {"b", "channels"}, {"c"})
      .node("AveragePool", {"c"}, {"d"}, {ints("kernel_shape", {2, 2})})
      .node("Pad", {"d", "pads"}, {"e"})
      .node("MaxPool", {"e"}, {"f"}, {ints("kernel_shape", {2, 2})})
      .node("Pad", {"f", "pads"}, {"g"}, {text("mode", "reflect")})
      .node("AveragePool", {"g"}, {"h"}, {ints("kernel_shape", {2, 2})})
      .output("h");
  const Graph graph = built(model);
  CHECK(nodes_of(fold_pads(graph)) == nodes_of(graph));
}

// x, its half, √2 and what else Gelu is made of.
ModelBuilder gelu_parts(float root = 1.41421354f, float half = 0.5f) {
  ModelBuilder model;
  model.opset(17)
      .input("x", DType::float32, {2, 3})
      .initializer("root", tensor<float>({}, {root}))
      .initializer("inverse", tensor<float>({1}, {0.70710677f}))
      .initializer("one", tensor<float>({}, {1.0f}))
      .initializer("half", tensor<float>({}, {half}));
  return model;
}

TEST_CASE("FuseGelu_EachOrderOfItsProducts_IsOneNode") {
  const auto divided = [] { return gelu_parts().node("Div", {"x", "root"}, {"a"}); };
  const auto multiplied = [] { return gelu_parts().node("Mul", {"inverse", "x"}, {"a"}); };
  const auto ends = [](ModelBuilder model, bool first_x, bool half_apart) {
    model.node("Erf", {"a"}, {"e"}).node("Add", {"one", "e"}, {"s"});
    if (half_apart)
      model.node("Mul", {"half", "x"}, {"h"}).node("Mul", {"h", "s"}, {"y"});
    else
      model.node("Mul", {"s", first_x ? "x" : "half"}, {"p"})
          .node("Mul", {first_x ? "half" : "x", "p"}, {"y"});
    return built(model.node("Relu", {"y"}, {"z"}).output("z"));
  };
  for (const Graph& graph : {ends(divided(), true, false), ends(divided(), false, false),
                             ends(multiplied(), true, false), ends(multiplied(), false, true)}) {
    const Graph after = fuse_gelu(graph);
    REQUIRE(after.nodes.size() == 2);
    CHECK(after.nodes[0].op_type == "Gelu");
    CHECK(after.nodes[0].opset == 20);
    CHECK(after.nodes[0].inputs == std::vector<ValueId>{*after.find_value("x")});
    CHECK(after.nodes[0].outputs == std::vector<ValueId>{*after.find_value("y")});
    CHECK(after.values[*after.find_value("y")].producer == 0);
    CHECK(after.values[*after.find_value("e")].producer == no_node);
  }
}

TEST_CASE("FuseGelu_OtherNumbersReadersAndOutputs_AreLeft") {
  const auto whole = [](ModelBuilder model, const char* factor = "x") {
    model.node("Div", {"x", "root"}, {"a"})
        .node("Erf", {"a"}, {"e"})
        .node("Add", {"e", "one"}, {"s"})
        .node("Mul", {factor, "s"}, {"p"})
        .node("Mul", {"p", "half"}, {"y"})
        .output("y");
    return model;
  };
  CHECK(fuse_gelu(built(whole(gelu_parts()))).nodes.size() == 1);
  const auto is_left = [](const ModelBuilder& model) {
    const Graph graph = built(model);
    return nodes_of(fuse_gelu(graph)) == nodes_of(graph);
  };
  CHECK(is_left(whole(gelu_parts(1.4142f))));
  CHECK(is_left(whole(gelu_parts(1.41421354f, 0.25f))));
  CHECK(is_left(whole(gelu_parts(), "a")));
  CHECK(is_left(whole(gelu_parts().input("w", DType::float32, {2, 3}), "w")));
  for (const char* inner : {"a", "e", "s", "p"}) {
    CAPTURE(inner);
    CHECK(is_left(whole(gelu_parts()).output(inner)));
    CHECK(is_left(whole(gelu_parts()).node("Neg", {inner}, {"n"}).output("n")));
  }
}

}  // namespace driftscope::test::passes_test
