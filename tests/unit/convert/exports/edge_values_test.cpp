// Numbers at which conversions go wrong: the smallest integers, bounds beyond 32 bits, powers beyond what
// float32 holds. Each model is exported, read back and run; the results are exact.
#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "core/convert/tflite/reader/read.hpp"
#include "tests/unit/convert/exports/through.hpp"

namespace driftscope::test::edge_values_test {
namespace {

ModelBuilder of_three(const char* op, DType dtype) {
  ModelBuilder model;
  model.opset(17).input("x", dtype, {3}).node(op, {"x"}, {"y"}).output("y");
  return model;
}

}  // namespace

TEST_CASE("Export_LeastInteger_StaysWhatItsTypeMakesOfIt") {
  const NamedInputs bytes = {{"x", tensor<std::int8_t>({3}, {-128, 5, -5})}};
  expect(of_three("Neg", DType::int8), bytes, {-128, -5, 5}, {"tfjs"});
  expect(of_three("Abs", DType::int8), bytes, {-128, 5, 5}, {"tfjs"});
  ModelBuilder quotient;
  quotient.opset(17)
      .input("x", DType::int8, {3})
      .initializer("d", tensor<std::int8_t>({1}, {-1}))
      .node("Div", {"x", "d"}, {"y"})
      .output("y");
  expect(quotient, bytes, {-128, -5, 5}, {"tfjs"});
  ModelBuilder smallest;
  smallest.opset(17)
      .input("x", DType::int32, {3})
      .initializer("k", tensor<std::int64_t>({1}, {2}))
      .node("TopK", {"x", "k"}, {"y", ""}, {integer("largest", 0)})
      .output("y");
  constexpr auto lowest = std::numeric_limits<std::int32_t>::min();
  expect(smallest, {{"x", tensor<std::int32_t>({3}, {5, lowest, 7})}}, {double{lowest}, 5.0});
}

TEST_CASE("Export_ElementsThatAreChosen_AreThose") {
  ModelBuilder slice;
  slice.opset(17)
      .input("x", DType::float32, {2, 3})
      .initializer("starts", tensor<std::int64_t>({1}, {2}))
      .initializer("ends", tensor<std::int64_t>({1}, {-4}))
      .initializer("axes", tensor<std::int64_t>({1}, {1}))
      .initializer("steps", tensor<std::int64_t>({1}, {-2}))
      .node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"})
      .output("y");
  const NamedInputs six = {{"x", tensor<float>({2, 3}, {0, 1, 2, 3, 4, 5})}};
  expect(slice, six, {2, 0, 5, 3});
  ModelBuilder gather;
  gather.opset(17)
      .input("x", DType::float32, {2, 3})
      .initializer("places", tensor<std::int64_t>({2, 2}, {0, 2, 1, -3}))
      .node("GatherND", {"x", "places"}, {"y"})
      .output("y");
  expect(gather, six, {2, 3});
}

TEST_CASE("Export_BoundBeyondThirtyTwoBits_IsNone") {
  ModelBuilder model;
  model.opset(17)
      .input("x", DType::int64, {2})
      .initializer("low", tensor<std::int64_t>({}, {0}))
      .initializer("high", tensor<std::int64_t>({}, {std::numeric_limits<std::int64_t>::max()}))
      .node("Clip", {"x", "low", "high"}, {"y"})
      .output("y");
  expect(model, {{"x", tensor<std::int64_t>({2}, {-3, 70000})}}, {0.0, 70000.0});
}

TEST_CASE("Export_WholePowerOfAnInteger_IsExact") {
  ModelBuilder model;
  model.opset(17)
      .input("x", DType::int32, {2})
      .initializer("two", tensor<float>({}, {2.0f}))
      .node("Pow", {"x", "two"}, {"y"})
      .output("y");
  expect(model, {{"x", tensor<std::int32_t>({2}, {5001, -3})}}, {25010001.0, 9.0});
}

TEST_CASE("Export_PadOfTruthValues_HasAFillOfTheirType") {
  ModelBuilder model;
  model.opset(17)
      .input("x", DType::boolean, {2})
      .initializer("pads", tensor<std::int64_t>({2}, {1, 0}))
      .node("Pad", {"x", "pads"}, {"y"})
      .output("y");
  constexpr std::array ones = {std::byte{1}, std::byte{1}};
  expect(model, {{"x", *Tensor::from_bytes(DType::boolean, {2}, ones)}}, {0.0, 1.0, 1.0});
}

TEST_CASE("Export_AxisOfFiveMovedLast_IsFoundAgain") {
  ModelBuilder model;
  model.opset(13)
      .input("x", DType::float32, {2, 1, 3, 2, 2})
      .node("Softmax", {"x"}, {"y"}, {integer("axis", 2)})
      .output("y");
  const Graph graph = inferred(model);
  const auto inputs = seeded_inputs(graph, 7);
  REQUIRE(inputs.ok());
  const auto bound = bind_inputs(graph, *inputs);
  REQUIRE(bound.ok());
  const auto written = convert::tfjs::convert(*bound->graph, {});
  REQUIRE_MESSAGE(written.ok(), written.error().message);
  const auto read = convert::tfjs::read_graph_model(text_of(written->files[0].bytes), files_of(*written));
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  expect_same(check_against(graph, as_onnx(*read)), 1);
}

// In .tflite they are real numbers: no int32 beside them, and no wrapping.
TEST_CASE("Export_QuantizedInt8_IsNotComputedAsIntegers") {
  const auto quantized = [](const char* op, bool smallest) {
    ModelBuilder model;
    model.opset(17)
        .input("x", DType::float32, {3})
        .initializer("scale", tensor<float>({}, {0.5f}))
        .initializer("zero", tensor<std::int8_t>({}, {0}))
        .initializer("k", tensor<std::int64_t>({1}, {2}))
        .node("QuantizeLinear", {"x", "scale", "zero"}, {"q"});
    if (smallest)
      model.node(op, {"q", "k"}, {"p", ""}, {integer("largest", 0)});
    else
      model.node(op, {"q"}, {"p"});
    model.node("DequantizeLinear", {"p", "scale", "zero"}, {"y"}).output("y");
    return model;
  };
  const NamedInputs inputs = {{"x", tensor<float>({3}, {1.5f, -2.0f, 4.0f})}};
  expect(quantized("Neg", false), inputs, {-1.5, 2.0, -4.0});
  expect(quantized("Abs", false), inputs, {1.5, 2.0, 4.0});
  expect(quantized("TopK", true), inputs, {-2.0, 1.5}, {"tfjs"});
  const auto refused = through("tflite", quantized("TopK", true), inputs);
  REQUIRE(std::holds_alternative<std::string>(refused));
  CHECK(std::get<std::string>(refused).find("smallest of quantized int8") != std::string::npos);
}

// The window of one axis gets a height, which must have the type of the tensor.
TEST_CASE("Export_QuantizedMaxPoolOverOneAxis_KeepsItsType") {
  ModelBuilder model;
  model.opset(17)
      .input("x", DType::float32, {1, 2, 4})
      .initializer("scale", tensor<float>({}, {0.5f}))
      .initializer("zero", tensor<std::int8_t>({}, {0}))
      .node("QuantizeLinear", {"x", "scale", "zero"}, {"q"})
      .node("MaxPool", {"q"}, {"p"}, {ints("kernel_shape", {2}), ints("strides", {2})})
      .node("DequantizeLinear", {"p", "scale", "zero"}, {"y"})
      .output("y");
  const NamedInputs inputs = {{"x", tensor<float>({1, 2, 4}, {1, 2, 3, 4, -1, -2, -3, -4})}};
  auto bound = bind_inputs(inferred(model), inputs);
  REQUIRE(bound.ok());
  for (const convert::Format& format : convert_formats().all()) {
    if (format.option != "tflite") continue;
    const auto written = format.convert(*bound->graph, {});
    REQUIRE_MESSAGE(written.ok(), written.error().message);
    const auto graph = tflite::read(written->files.at(0).bytes);
    REQUIRE_MESSAGE(graph.ok(), graph.error().message);
    for (const tf::Node& node : graph->nodes)
      if (node.op == "MaxPool") CHECK(graph->tensors.at(node.name).dtype == DType::int8);
  }
  expect(model, inputs, {2, -1, 4, -3}, {"tflite"});
}

}  // namespace driftscope::test::edge_values_test
