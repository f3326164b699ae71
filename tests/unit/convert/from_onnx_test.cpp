// ONNX graphs as TensorFlow's: layouts, names, types, what cannot be expressed. What the nodes compute is
// compared with ONNX's own cases in tests/e2e/tfjs.
#include "core/convert/tf/from_onnx.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/convert/format.hpp"
#include "core/convert/tf/lowering.hpp"
#include "core/convert/tfjs/convert.hpp"
#include "core/convert/tfjs/dialect.hpp"
#include "core/eval/infer_shapes.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope {
namespace {

using namespace test;
using convert::ConvertOptions;
using Order = std::vector<std::size_t>;

Graph inferred(const ModelBuilder& model) {
  auto graph = infer_shapes(built(model.bytes()));
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  return *std::move(graph);
}

tf::Lowered lowered(const ModelBuilder& model, const ConvertOptions& options = {},
                    const tf::Dialect& dialect = convert::tfjs::dialect()) {
  auto made = tf::from_onnx(inferred(model), options, dialect);
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  return *std::move(made);
}

std::string failure(const ModelBuilder& model) {
  const auto made = tf::from_onnx(inferred(model), {}, convert::tfjs::dialect());
  return made.ok() ? "" : made.error().message;
}

std::vector<std::string> ops(const tf::Lowered& model) {
  std::vector<std::string> result;
  for (const tf::Node& node : model.graph.nodes) result.push_back(node.op);
  return result;
}

const tf::Node& node_named(const tf::Lowered& model, const std::string& name) {
  const auto found = std::find_if(model.graph.nodes.begin(), model.graph.nodes.end(),
                                  [&](const tf::Node& node) { return node.name == name; });
  REQUIRE_MESSAGE(found != model.graph.nodes.end(), name);
  return *found;
}

Tensor filled(Shape shape) {
  return tensor<float>(shape, std::vector<float>(static_cast<std::size_t>(element_count(shape)), 0.5f));
}

ModelBuilder small_network() {
  return ModelBuilder()
      .input("x", DType::float32, {1, 2, 8, 8})
      .initializer("w", filled({4, 2, 3, 3}))
      .initializer("b", filled({4}))
      .initializer("f", filled({5, 64}))
      .initializer("g", filled({5}))
      .node("Conv", {"x", "w", "b"}, {"c"}, {ints("pads", {1, 1, 1, 1})})
      .node("Relu", {"c"}, {"r"})
      .node("MaxPool", {"r"}, {"p"}, {ints("kernel_shape", {2, 2}), ints("strides", {2, 2})})
      .node("Flatten", {"p"}, {"v"})
      .node("Gemm", {"v", "f", "g"}, {"y"}, {integer("transB", 1)})
      .output("y");
}

TEST_CASE("FromOnnx_Network_StaysChannelsLastUntilAReaderNeedsOnnxsOrder") {
  const tf::Lowered model = lowered(small_network());
  CHECK(ops(model) ==
        std::vector<std::string>{"_FusedConv2D", "Relu", "MaxPool", "Transpose", "Reshape", "_FusedMatMul"});
  CHECK(model.values.at("x").order == Order{0, 2, 3, 1});
  CHECK(model.graph.tensors.at("x").shape == Shape{1, 8, 8, 2});
  CHECK(model.values.at("p").order == Order{0, 2, 3, 1});
  CHECK(model.values.at("v").order.empty());
  CHECK(model.graph.outputs == std::vector<std::string>{"y"});
}

TEST_CASE("FromOnnx_Weights_AreHeldAsTensorFlowReadsThem") {
  const tf::Lowered model = lowered(small_network());
  CHECK(model.graph.constants.at("w").shape() == Shape{3, 3, 2, 4});
  CHECK(model.graph.constants.at("f").shape() == Shape{64, 5});  // transB is done
  CHECK(std::get<bool>(node_named(model, "y").attributes.at("transpose_b")) == false);
}

TEST_CASE("FromOnnx_FullyConnected_KeepsOutputsFirst") {
  tf::Dialect dialect = convert::tfjs::dialect();
  dialect.fully_connected = true;
  const tf::Lowered model = lowered(small_network(), {}, dialect);
  CHECK(node_named(model, "y").op == "FullyConnected");
  CHECK(model.graph.constants.at("f").shape() == Shape{5, 64});
}

TEST_CASE("FromOnnx_ResidualConnection_NeedsNoTransposition") {
  const tf::Lowered model = lowered(ModelBuilder()
                                        .input("x", DType::float32, {1, 3, 8, 8})
                                        .initializer("w", filled({3, 3, 3, 3}))
                                        .initializer("scale", filled({3, 1, 1}))
                                        .node("Conv", {"x", "w"}, {"c"}, {ints("pads", {1, 1, 1, 1})})
                                        .node("Add", {"c", "x"}, {"s"})
                                        .node("Mul", {"s", "scale"}, {"m"})
                                        .node("GlobalAveragePool", {"m"}, {"g"})
                                        .node("Reshape", {"g", "shape"}, {"y"})
                                        .initializer("shape", tensor<std::int64_t>({2}, {1, 3}))
                                        .output("y"));
  CHECK(ops(model) == std::vector<std::string>{"Conv2D", "AddV2", "Mul", "Mean", "Reshape"});
  CHECK(model.graph.tensors.at(node_named(model, "m").inputs[1]).shape == Shape{1, 1, 1, 3});
}

TEST_CASE("FromOnnx_AsymmetricPads_AreExplicitOrAPadBefore") {
  const auto model = ModelBuilder()
                         .input("x", DType::float32, {1, 1, 8, 8})
                         .initializer("w", filled({1, 1, 3, 3}))
                         .node("Conv", {"x", "w"}, {"y"}, {ints("pads", {2, 0, 1, 1})})
                         .output("y");
  const tf::Lowered explicit_ones = lowered(model);
  CHECK(ops(explicit_ones) == std::vector<std::string>{"Conv2D"});
  CHECK(std::get<std::vector<std::int64_t>>(
            node_named(explicit_ones, "y").attributes.at("explicit_paddings")) ==
        std::vector<std::int64_t>{0, 0, 2, 1, 0, 1, 0, 0});
  tf::Dialect dialect = convert::tfjs::dialect();
  dialect.explicit_paddings = false;
  CHECK(ops(lowered(model, {}, dialect)) == std::vector<std::string>{"PadV2", "Conv2D"});
}

TEST_CASE("FromOnnx_SamePads_AreTensorFlowsOwn") {
  const tf::Lowered model = lowered(
      ModelBuilder()
          .input("x", DType::float32, {1, 1, 8, 8})
          .node("MaxPool", {"x"}, {"y"},
                {ints("kernel_shape", {3, 3}), ints("strides", {2, 2}), text("auto_pad", "SAME_UPPER")})
          .output("y"));
  CHECK(ops(model) == std::vector<std::string>{"MaxPool"});
  CHECK(std::get<std::string>(node_named(model, "y").attributes.at("padding")) == "SAME");
}

TEST_CASE("FromOnnx_Names_FollowTensorFlowsRulesAndStayDistinct") {
  const tf::Lowered model = lowered(ModelBuilder()
                                        .input("x:0", DType::float32, {2})
                                        .node("Relu", {"x:0"}, {"x_0"})
                                        .node("Neg", {"x_0"}, {"_y é"})
                                        .output("_y é"));
  CHECK(model.values.at("x:0").name == "x_0");
  CHECK(model.values.at("x_0").name == "x_0_2");
  CHECK(model.values.at("_y é").name == "v_y___");
}

TEST_CASE("FromOnnx_SplitOutputs_AreTensorsOfOneNode") {
  const tf::Lowered model = lowered(ModelBuilder()
                                        .input("x", DType::float32, {4})
                                        .initializer("sizes", tensor<std::int64_t>({2}, {1, 3}))
                                        .node("Split", {"x", "sizes"}, {"a", "b"})
                                        .output("a")
                                        .output("b"));
  CHECK(model.graph.outputs == std::vector<std::string>{"a", "a:1"});
  CHECK(model.values.at("b").name == "a:1");
  CHECK(model.graph.tensors.at("a:1").shape == Shape{3});
}

TEST_CASE("FromOnnx_Int64_BecomesInt32AndSaysSo") {
  const tf::Lowered model = lowered(ModelBuilder()
                                        .input("x", DType::int64, {2})
                                        .initializer("one", tensor<std::int64_t>({}, {1}))
                                        .node("Add", {"x", "one"}, {"y"})
                                        .output("y"));
  CHECK(model.values.at("x").dtype == DType::int32);
  CHECK(model.facts.at("int64_as") == "int32");
  CHECK(model.graph.constants.at("one").dtype() == DType::int32);
}

TEST_CASE("FromOnnx_Int64ThatDoesNotFit_IsAnErrorThatNamesTheConstant") {
  const std::string error = failure(ModelBuilder()
                                        .input("x", DType::int64, {2})
                                        .initializer("big", tensor<std::int64_t>({}, {1LL << 40}))
                                        .node("Add", {"x", "big"}, {"y"})
                                        .output("y"));
  CHECK(error.find("constant big: its element 0 is 1099511627776") != std::string::npos);
}

TEST_CASE("FromOnnx_UnknownOperator_IsAnErrorThatNamesNodeAndReason") {
  const std::string error = failure(ModelBuilder()
                                        .input("x", DType::float32, {2, 2})
                                        .node("Det", {"x"}, {"y"})
                                        .named("the_node")
                                        .output("y"));
  CHECK(error.find("the_node (Det") != std::string::npos);
  CHECK(error.find("TensorFlow.js cannot express Det") != std::string::npos);
}

TEST_CASE("FromOnnx_TypesThatAreLacking_AreErrorsThatNameTheValue") {
  const std::string error =
      failure(ModelBuilder().input("x", DType::float64, {2}).node("Relu", {"x"}, {"y"}).output("y"));
  CHECK(error == "input x: TensorFlow.js has no tensors of float64");
}

TEST_CASE("FromOnnx_StatisticsOfAnotherType_AreAnErrorInEveryFormat") {
  const std::vector<std::uint16_t> ones(3, 0x3f80);
  const Graph graph = inferred(
      ModelBuilder()
          .input("x", DType::float32, {1, 3, 2, 2})
          .initializer("s", filled({3}))
          .initializer("m", *Tensor::from_bytes(DType::bfloat16, {3}, std::as_bytes(std::span(ones))))
          .node("BatchNormalization", {"x", "s", "s", "m", "m"}, {"y"})
          .output("y"));
  for (const convert::Format& format : convert_formats().all()) {
    const auto made = format.convert(graph, {});
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().kind == ErrorKind::unsupported);
    CHECK(made.error().message.find("bfloat16") != std::string::npos);
  }
}

TEST_CASE("FromOnnx_NodesThatNothingReads_AreLeftOut") {
  const tf::Lowered model = lowered(ModelBuilder()
                                        .input("x", DType::float32, {2, 2})
                                        .node("Det", {"x"}, {"unused"})
                                        .node("Relu", {"x"}, {"y"})
                                        .output("y"));
  CHECK(ops(model) == std::vector<std::string>{"Relu"});
}

TEST_CASE("FromOnnx_Captured_AreOutputsOrSaidToBeKnown") {
  const tf::Lowered model = lowered(ModelBuilder()
                                        .input("x", DType::float32, {2})
                                        .initializer("two", filled({2}))
                                        .node("Neg", {"two"}, {"constant"})
                                        .node("Relu", {"x"}, {"r"})
                                        .node("Add", {"r", "constant"}, {"y"})
                                        .output("y"),
                                    {.captured = {"r", "constant", "absent"}, .options = {}});
  CHECK(model.graph.outputs == std::vector<std::string>{"y", "r"});
  CHECK(model.without.contains("constant"));
  CHECK(model.without.at("absent") == "the graph has no such value");
  CHECK(ops(model) == std::vector<std::string>{"Relu", "AddV2"});
}

TEST_CASE("FromOnnx_OutputsThatNoNodeMakes_ExistAllTheSame") {
  const tf::Lowered model = lowered(ModelBuilder()
                                        .input("x", DType::float32, {2})
                                        .initializer("two", filled({2}))
                                        .node("Neg", {"two"}, {"y"})
                                        .output("y")
                                        .output("x"));
  REQUIRE(model.graph.outputs.size() == 2);
  CHECK(node_named(model, model.graph.outputs[0]).op == "Identity");
  CHECK(model.graph.outputs[1] == "x");
}

TEST_CASE("FromOnnx_EveryTensorOfEveryNode_IsDescribedAndMadeBeforeItIsRead") {
  const tf::Lowered model = lowered(small_network());
  std::set<std::string> made(model.graph.inputs.begin(), model.graph.inputs.end());
  for (const auto& [name, tensor] : model.graph.constants) made.insert(name);
  for (const tf::Node& node : model.graph.nodes) {
    for (const std::string& input : node.inputs) CHECK_MESSAGE(made.contains(input), input);
    made.insert(node.name);
    CHECK_MESSAGE(model.graph.tensors.contains(node.name), node.name);
  }
}

TEST_CASE("TfjsConvert_SameGraph_GivesTheSameBytes") {
  const Graph graph = inferred(small_network());
  const auto first = convert::tfjs::convert(graph, {});
  const auto second = convert::tfjs::convert(graph, {});
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  REQUIRE(first->files.size() == 2);
  CHECK(first->files[0].name == "model.json");
  CHECK(first->files[1].name == "group1-shard1of1.bin");
  for (std::size_t i = 0; i < 2; ++i) CHECK(first->files[i].bytes == second->files[i].bytes);
}

TEST_CASE("TfjsConvert_NamesByContents_DifferWithTheWeights") {
  ConvertOptions options;
  options.names_by_contents = true;
  const auto shard_of = [&](float weight) {
    const auto model = convert::tfjs::convert(
        inferred(ModelBuilder()
                     .input("x", DType::float32, {1, 2})
                     .initializer("w", *Tensor::from_values<float>({2, 1}, std::vector<float>{weight, 2.0f}))
                     .node("MatMul", {"x", "w"}, {"y"})
                     .output("y")),
        options);
    REQUIRE(model.ok());
    REQUIRE(model->files.size() == 2);
    const std::string& name = model->files[1].name;
    const std::string_view text(reinterpret_cast<const char*>(model->files[0].bytes.data()),
                                model->files[0].bytes.size());
    CHECK(text.find('"' + name + '"') != std::string_view::npos);
    CHECK(convert::tfjs::is_named_by_contents(name));
    return name;
  };
  CHECK(shard_of(1.0f) == shard_of(1.0f));
  CHECK(shard_of(1.0f) != shard_of(3.0f));
  for (const char* other : {"group1-shard1of1.bin", "group1-shard1of1-0123456789abcde.bin", "model.json",
                            "group1-shard1of-0123456789abcdef.bin", "group1-shard1of1-0123456789abcdef.bin2"})
    CHECK_FALSE(convert::tfjs::is_named_by_contents(other));
}

TEST_CASE("TfjsConvert_ManyWeights_AreCutIntoShardsOfFourMebibytes") {
  const Graph graph = inferred(ModelBuilder()
                                   .input("x", DType::float32, {1, 1200})
                                   .initializer("w", filled({1200, 1000}))
                                   .node("MatMul", {"x", "w"}, {"y"})
                                   .output("y"));
  const auto model = convert::tfjs::convert(graph, {});
  REQUIRE(model.ok());
  REQUIRE(model->files.size() == 3);
  CHECK(model->files[1].name == "group1-shard1of2.bin");
  CHECK(model->files[1].bytes.size() == std::size_t{4} << 20);
  CHECK(model->files[2].bytes.size() == 1200u * 1000 * 4 - (std::size_t{4} << 20));
}

}  // namespace
}  // namespace driftscope
