// Sizes that are found for open dimensions.
#include "core/inputs/found_sizes.hpp"

#include <doctest/doctest.h>

#include "core/eval/infer_shapes.hpp"
#include "unit/support/model_builder.hpp"

namespace driftscope::test::found_sizes_test {
namespace {

Tensor zeros(Shape shape) { return *Tensor::make(DType::float32, std::move(shape)); }

Graph inferred(const ModelBuilder& model) {
  auto graph = infer_shapes(built(model));
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  return *std::move(graph);
}

/// The shapes of all inputs: "1x3x224x224 1x16".
std::string found(const Graph& graph) {
  const auto sizes = find_sizes(graph, "m.onnx");
  REQUIRE_MESSAGE(sizes.ok(), sizes.error().message);
  std::string text;
  for (const Shape& shape : sizes->shapes) text += (text.empty() ? "" : " ") + shape_text(shape);
  return text;
}

std::string found_for_one(DType dtype, const std::vector<Dim>& dims, const std::string& name = "x") {
  ModelBuilder model;
  model.input(name, dtype, dims).node("Identity", {name}, {"y"}).output("y");
  return found(inferred(model));
}

}  // namespace

TEST_CASE("FoundSizes_WithoutConstraints_AreTheOrdinaryOnesOfTheirRole") {
  CHECK(found_for_one(DType::float32, {"N", 3, "height", "width"}) == "1x3x224x224");
  CHECK(found_for_one(DType::float32, {"", "", "", 3}) == "1x224x224x3");
  CHECK(found_for_one(DType::float32, {"", "", "", ""}) == "1x3x224x224");
  CHECK(found_for_one(DType::float32, {1, 3, 48, ""}) == "1x3x48x320");
  CHECK(found_for_one(DType::uint8, {"h", "w", 3}) == "224x224x3");
  CHECK(found_for_one(DType::float32, {"batch", "time"}) == "1x16000");
  CHECK(found_for_one(DType::float32, {"", 1, ""}) == "1x1x16000");
  CHECK(found_for_one(DType::float32, {"samples"}) == "16000");
  CHECK(found_for_one(DType::float32, {"", 80, "frames"}) == "1x80x128");
  CHECK(found_for_one(DType::int64, {"batch", "seq"}) == "1x16");
  CHECK(found_for_one(DType::float32, {2, "", 64}, "h0") == "2x1x64");
}

TEST_CASE("FoundSizes_AKernelLargerThanTheInput_IsNoFit") {
  // 224 is too small for a kernel of 300, 320 is not.
  ModelBuilder model;
  model.input("x", DType::float32, {"N", 3, "H", "W"})
      .initializer("w", zeros({1, 3, 300, 1}))
      .node("Conv", {"x", "w"}, {"y"})
      .output("y");
  CHECK(found(inferred(model)) == "1x3x320x320");
}

TEST_CASE("FoundSizes_OnlyOneSizeFits_IsTakenFromTheWeights") {
  // No ordinary size: 837 features, as the matrix has rows.
  ModelBuilder model;
  model.input("x", DType::float32, {"N", "features"})
      .initializer("w", zeros({837, 4}))
      .node("MatMul", {"x", "w"}, {"y"})
      .output("y");
  CHECK(found(inferred(model)) == "1x837");
}

TEST_CASE("FoundSizes_TwoThatMustAgree_DoSo") {
  ModelBuilder model;
  model.input("a", DType::float32, {1, "", 8})
      .input("b", DType::float32, {1, "n2", 8})
      .initializer("w", zeros({1, 36, 8}))
      .node("Add", {"a", "w"}, {"c"})
      .node("Mul", {"c", "b"}, {"y"})
      .output("y");
  // 36 twice, or a 1 that is broadcast.
  CHECK(found(inferred(model)).starts_with("1x36x8 1x"));
}

TEST_CASE("FoundSizes_OneNameInSeveralInputs_IsOneSize") {
  ModelBuilder model;
  model.input("ids", DType::int64, {"batch", "seq"})
      .input("mask", DType::int64, {"batch", "seq"})
      .node("Mul", {"ids", "mask"}, {"y"})
      .output("y");
  const auto sizes = find_sizes(inferred(model), "m.onnx");
  REQUIRE(sizes.ok());
  REQUIRE(sizes->open.size() == 2);
  CHECK(sizes->open[0].symbol == "batch");
  CHECK(sizes->open[1].symbol == "seq");
  CHECK(sizes->open[1].input == "ids");
  CHECK(sizes->open[1].size == 16);
}

TEST_CASE("FoundSizes_ACache_IsOneStepLongAndSumsFollow") {
  const std::vector<Dim> cache = {"batch", 2, "past_sequence_length", 4};
  ModelBuilder model;
  model.input("ids", DType::int64, {"batch", "sequence_length"})
      .input("attention_mask", DType::int64, {"batch", "past_sequence_length + sequence_length"})
      .input("past_key_values.0.key", DType::float32, cache)
      .node("Identity", {"ids"}, {"y"})
      .output("y");
  CHECK(found(inferred(model)) == "1x16 1x17 1x2x1x4");
}

TEST_CASE("FoundSizes_TotalLengthOfAMask_IsPastAndNewSteps") {
  ModelBuilder model;
  model.input("past_key_values.0.key", DType::float32, {"batch", 2, "past_len", 4})
      .input("ids", DType::int64, {"batch", "sequence_length"})
      .input("attention_mask", DType::int64, {"batch", "total_sequence_length"})
      .node("Identity", {"ids"}, {"y"})
      .output("y");
  CHECK(found(inferred(model)) == "1x2x1x4 1x16 1x17");
}

TEST_CASE("FoundSizes_FixedShapes_AreTheirOwn") {
  ModelBuilder model;
  model.input("x", DType::float32, {2, 5}).node("Relu", {"x"}, {"y"}).output("y");
  const auto sizes = find_sizes(built(model), "m.onnx");
  REQUIRE(sizes.ok());
  CHECK(sizes->shapes == std::vector<Shape>{{2, 5}});
  CHECK(sizes->open.empty());
}

TEST_CASE("FoundSizes_EmptyOutputs_AreNoFit") {
  // Every 300th element behind the first 299: nothing of 224.
  ModelBuilder model;
  model.input("x", DType::float32, {1, 3, "H", 8})
      .initializer("from", tensor<std::int64_t>({1}, {299}))
      .initializer("to", tensor<std::int64_t>({1}, {100000}))
      .initializer("axis", tensor<std::int64_t>({1}, {2}))
      .node("Slice", {"x", "from", "to", "axis"}, {"y"})
      .output("y");
  CHECK(found(inferred(model)) == "1x3x320x8");
}

TEST_CASE("FoundSizes_TheBranchOfIfThatRuns_MustFit") {
  // At 16000 Hz the branch takes frames of 512, else of 256: only the rate that is given decides.
  const auto branch = [](std::int64_t frame) {
    ModelBuilder body("branch");
    body.initializer("frame", tensor<std::int64_t>({2}, {1, frame}))
        .node("Reshape", {"x", "frame"}, {"framed"})
        .output("framed");
    return body.graph_message();
  };
  ModelBuilder model;
  model.input("x", DType::float32, {"", ""})
      .input("sr", DType::int64, {})
      .initializer("rate", tensor<std::int64_t>({}, {16000}))
      .node("Equal", {"sr", "rate"}, {"is_16k"})
      .node("If", {"is_16k"}, {"y"})
      .graph_attribute("then_branch", branch(512))
      .graph_attribute("else_branch", branch(256))
      .output("y");
  CHECK(found(inferred(model)) == "1x512 scalar");
}

TEST_CASE("FoundSizes_NothingFits_ListsInputsAndACommand") {
  // 4 and 5 rows: no length of x fits both.
  ModelBuilder model;
  model.input("x", DType::float32, {"N", "time"})
      .input("z", DType::float32, {1, ""})
      .initializer("v", zeros({4, 2}))
      .initializer("w", zeros({5, 2}))
      .node("MatMul", {"x", "v"}, {"a"})
      .node("MatMul", {"x", "w"}, {"b"})
      .node("Identity", {"z"}, {"c"})
      .output("a")
      .output("b")
      .output("c");
  Graph graph = built(model);
  const auto sizes = find_sizes(graph, "m.onnx");
  REQUIRE_FALSE(sizes.ok());
  const std::string& message = sizes.error().message;
  CHECK_MESSAGE(message.find("\n  x (float32 Nxtime)\n  z (float32 1x?)") != std::string::npos, message);
  CHECK_MESSAGE(
      message.find("driftscope run m.onnx --dim N=… --dim time=… --input-shape z=1x…") != std::string::npos,
      message);
  CHECK_MESSAGE(message.find("with x 1x16000") != std::string::npos, message);
}

TEST_CASE("FoundSizes_ManyOpenSizesThatFitNothing_EndSoon") {
  ModelBuilder model;
  std::string before = "x0";
  for (int i = 0; i < 40; ++i) model.input("x" + std::to_string(i), DType::float32, {"", "", "", "", ""});
  model.initializer("w", zeros({3, 2}))
      .initializer("v", zeros({5, 2}))
      .node("MatMul", {"x39", "w"}, {"a"})
      .node("MatMul", {"x39", "v"}, {"b"})
      .output("a")
      .output("b");
  CHECK_FALSE(find_sizes(built(model), "m.onnx").ok());
}

TEST_CASE("FoundSizes_UnknownRank_AsksForTheShape") {
  ModelBuilder model;
  model.input("x", DType::float32, {1}).node("Relu", {"x"}, {"y"}).output("y");
  Graph graph = built(model);
  graph.values[graph.inputs[0]].shape.reset();
  const auto sizes = find_sizes(graph, "m.onnx");
  REQUIRE_FALSE(sizes.ok());
  CHECK(sizes.error().message.find("--input-shape x=") != std::string::npos);
}

}  // namespace driftscope::test::found_sizes_test
