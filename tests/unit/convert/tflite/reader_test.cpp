#include <doctest/doctest.h>

#include <array>

#include "tests/unit/convert/tflite/file_builder.hpp"
#include "tests/unit/support/allocation_watch.hpp"
#include "tests/unit/support/mutate.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test {
namespace {

/// x 1x6x6x2 → CONV_2D 3x3 stride 2 SAME with a bias and a fused RELU → DEPTHWISE 3x3 → y 1x3x3x6.
std::vector<std::byte> convolutions(const Tensor& filter, const Tensor& bias, const Tensor& depthwise) {
  FileBuilder file;
  const int x = file.tensor("x", {1, 6, 6, 2});
  const int w = file.constant("w", {3, 3, 3, 2}, fb::TensorType::FLOAT32, filter.values<float>());
  const int b = file.constant("b", {3}, fb::TensorType::FLOAT32, bias.values<float>());
  const int c = file.tensor("c", {1, 3, 3, 3});
  const int d = file.constant("d", {1, 3, 3, 6}, fb::TensorType::FLOAT32, depthwise.values<float>());
  const int y = file.tensor("y", {1, 3, 3, 6});
  file.add(fb::BuiltinOperator::CONV_2D, {x, w, b}, {c},
           fb::CreateConv2DOptions(file.builder(), fb::Padding::SAME, 2, 2, fb::ActivationFunctionType::RELU),
           fb::BuiltinOptions::Conv2DOptions);
  file.add(fb::BuiltinOperator::DEPTHWISE_CONV_2D, {c, d, -1}, {y},
           fb::CreateDepthwiseConv2DOptions(file.builder(), fb::Padding::SAME, 1, 1, 2),
           fb::BuiltinOptions::DepthwiseConv2DOptions);
  return file.finish({x}, {y});
}

}  // namespace

TEST_CASE("TfliteReader_Convolutions_ComputeWhatTheirOnnxDoes") {
  const Tensor filter = random_floats({3, 3, 3, 2}, 1);  // out, height, width, in
  const Tensor bias = random_floats({3}, 2);
  const Tensor depthwise = random_floats({1, 3, 3, 6}, 3);
  const Graph graph = read_tflite(convolutions(filter, bias, depthwise));
  const auto w = convert::permuted(filter, {0, 3, 1, 2});
  const auto d = convert::permuted(depthwise, {3, 0, 1, 2});
  REQUIRE((w.ok() && d.ok()));
  // SAME with a stride of 2 over 6 pads after the values alone.
  ModelBuilder onnx;
  onnx.input("x", DType::float32, {1, 2, 6, 6})
      .initializer("w", *w)
      .initializer("b", bias)
      .initializer("d", *d);
  onnx.node("Conv", {"x", "w", "b"}, {"before"}, {ints("pads", {0, 0, 1, 1}), ints("strides", {2, 2})});
  onnx.node("Relu", {"before"}, {"c"});
  onnx.node("Conv", {"c", "d"}, {"y"}, {ints("pads", {1, 1, 1, 1}), integer("group", 3)});
  onnx.output("y", DType::float32, {1, 6, 3, 3});
  const convert::Check check = check_against(inferred(onnx), graph);
  expect_same(check, 1);
  for (const auto& layer : check.layers)
    if (layer.values.a != "before") CHECK(layer.values.order == convert::Order{0, 2, 3, 1});
}

TEST_CASE("TfliteReader_QuantizedProduct_ComputesOnRealNumbersAndRounds") {
  FileBuilder file;
  const std::vector<std::int8_t> weights = {1, 2, 3, -4};
  const std::vector<std::int32_t> bias = {4, -8};
  const int x = file.tensor("x", {1, 2}, fb::TensorType::INT8, {}, {0.5f}, {-1});
  const int w = file.constant("w", {2, 2}, fb::TensorType::INT8, std::span<const std::int8_t>(weights),
                              {0.25f, 0.5f}, {0, 0}, 0);
  const int b = file.constant("b", {2}, fb::TensorType::INT32, std::span<const std::int32_t>(bias),
                              {0.125f, 0.25f}, {0, 0}, 0);
  const int y = file.tensor("y", {1, 2}, fb::TensorType::INT8, {}, {0.25f}, {3});
  file.add(fb::BuiltinOperator::FULLY_CONNECTED, {x, w, b}, {y},
           fb::CreateFullyConnectedOptions(file.builder()), fb::BuiltinOptions::FullyConnectedOptions);
  const Graph graph = read_tflite(file.finish({x}, {y}));
  // x = 0.5·(q + 1): 1 and 2. w = [0.25 0.5; 1.5 -2]. b = [0.5; -2]. y = [1.75; -4.5] → q = y/0.25 + 3.
  const RunModel run = run_model(graph, {{"x", tensor<std::int8_t>({1, 2}, {1, 3})}});
  const auto values = run.trace.find("y")->values<std::int8_t>();
  CHECK(values[0] == 10);
  CHECK(values[1] == -15);
}

TEST_CASE("TfliteReader_CastOfQuantizedTensors_TakesAndGivesTheIntegers") {
  FileBuilder file;
  const std::vector<std::int8_t> weights = {1, -2, 3};
  const int x = file.tensor("x", {3}, fb::TensorType::INT8, {}, {0.5f}, {-1});
  const int w = file.constant("w", {3}, fb::TensorType::INT8, std::span<const std::int8_t>(weights),
                              {0.25f, 0.5f, 2.0f}, {0, 0, 0}, 0);
  const int a = file.tensor("a", {3});
  const int b = file.tensor("b", {3});
  const int c = file.tensor("c", {3}, fb::TensorType::INT8, {}, {0.5f}, {7});
  const auto cast = [&](int from, int to) {
    file.add(fb::BuiltinOperator::CAST, {from}, {to}, fb::CreateCastOptions(file.builder()),
             fb::BuiltinOptions::CastOptions);
  };
  cast(x, a);
  cast(w, b);
  cast(a, c);
  const Graph graph = read_tflite(file.finish({x}, {a, b, c}));
  const RunModel run = run_model(graph, {{"x", tensor<std::int8_t>({3}, {4, 5, -6})}});
  CHECK(floats(run, "a") == std::vector<float>{4, 5, -6});
  CHECK(floats(run, "b") == std::vector<float>{1, -2, 3});
  const auto given = run.trace.find("c")->values<std::int8_t>();
  CHECK(std::vector<std::int8_t>(given.begin(), given.end()) == std::vector<std::int8_t>{4, 5, -6});
}

TEST_CASE("TfliteReader_QuantizedInt16_HasTheOpsetThatKnowsIt") {
  for (const auto type : {fb::TensorType::INT8, fb::TensorType::INT16}) {
    FileBuilder file;
    const int x = file.tensor("x", {2}, type, {}, {0.5f}, {0});
    const int y = file.tensor("y", {2}, type, {}, {0.5f}, {0});
    file.add(fb::BuiltinOperator::ABS, {x}, {y}, flatbuffers::Offset<void>(), fb::BuiltinOptions::NONE);
    const auto graph = tflite::read(file.finish({x}, {y}));
    REQUIRE_MESSAGE(graph.ok(), graph.error().message);
    const auto model = tf::to_onnx(*graph);
    REQUIRE_MESSAGE(model.ok(), model.error().message);
    CHECK(model->opsets.at("") == (type == fb::TensorType::INT16 ? 21 : 20));
  }
}

// As Chromium's WebNN writes its files.
TEST_CASE("TfliteReader_UnsignedPermutationAndSliceWithoutOptions_AreRead") {
  FileBuilder file;
  const std::vector<std::uint32_t> permutation = {1, 0};
  const std::vector<std::int32_t> begin = {1, 0};
  const std::vector<std::int32_t> end = {3, 2};
  const std::vector<std::int32_t> strides = {1, 1};
  const int x = file.tensor("x", {2, 3});
  const int p = file.constant("p", {2}, fb::TensorType::UINT32, std::span<const std::uint32_t>(permutation));
  const int t = file.tensor("t", {3, 2});
  const int b = file.constant("b", {2}, fb::TensorType::INT32, std::span<const std::int32_t>(begin));
  const int e = file.constant("e", {2}, fb::TensorType::INT32, std::span<const std::int32_t>(end));
  const int s = file.constant("s", {2}, fb::TensorType::INT32, std::span<const std::int32_t>(strides));
  const int y = file.tensor("y", {2, 2});
  file.add(fb::BuiltinOperator::TRANSPOSE, {x, p}, {t}, flatbuffers::Offset<void>(),
           fb::BuiltinOptions::NONE);
  file.add(fb::BuiltinOperator::STRIDED_SLICE, {t, b, e, s}, {y}, flatbuffers::Offset<void>(),
           fb::BuiltinOptions::NONE);
  const RunModel run =
      run_model(read_tflite(file.finish({x}, {y})), {{"x", tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6})}});
  CHECK(floats(run, "y") == std::vector<float>{2, 5, 3, 6});
}

TEST_CASE("TfliteReader_ScalarThatBroadcastingWouldGiveAnAxis_StaysAScalar") {
  FileBuilder file;
  const std::vector<std::int32_t> one = {1};
  const int x = file.tensor("x", {2, 3});
  const int i = file.tensor("i", {}, fb::TensorType::INT32);
  const int low = file.constant("low", {1}, fb::TensorType::INT32, std::span<const std::int32_t>(one));
  const int clamped = file.tensor("clamped", {}, fb::TensorType::INT32);
  const int y = file.tensor("y", {3});
  file.add(fb::BuiltinOperator::MAXIMUM, {i, low}, {clamped}, flatbuffers::Offset<void>(),
           fb::BuiltinOptions::NONE);
  file.add(fb::BuiltinOperator::GATHER, {x, clamped}, {y}, fb::CreateGatherOptions(file.builder()),
           fb::BuiltinOptions::GatherOptions);
  const RunModel run =
      run_model(read_tflite(file.finish({x, i}, {y})),
                {{"x", tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6})}, {"i", tensor<std::int32_t>({}, {0})}});
  CHECK(run.trace.find("y")->shape() == Shape{3});
  CHECK(floats(run, "y") == std::vector<float>{4, 5, 6});
}

TEST_CASE("TfliteReader_SelectWithAConditionOfOneAxis_TakesRowsInVersionOneAlone") {
  constexpr std::array condition = {std::byte{1}, std::byte{0}};
  const auto selected = [&](fb::BuiltinOperator code) {
    FileBuilder file;
    const int c = file.tensor("c", {2}, fb::TensorType::BOOL);
    const int x = file.tensor("x", {2, 2});
    const int y = file.tensor("y", {2, 2});
    const int z = file.tensor("z", {2, 2});
    file.add(code, {c, x, y}, {z}, flatbuffers::Offset<void>(), fb::BuiltinOptions::NONE);
    return floats(run_model(read_tflite(file.finish({c, x, y}, {z})),
                            {{"c", *Tensor::from_bytes(DType::boolean, {2}, condition)},
                             {"x", tensor<float>({2, 2}, {1, 2, 3, 4})},
                             {"y", tensor<float>({2, 2}, {5, 6, 7, 8})}}),
                  "z");
  };
  CHECK(selected(fb::BuiltinOperator::SELECT) == std::vector<float>{1, 2, 7, 8});
  CHECK(selected(fb::BuiltinOperator::SELECT_V2) == std::vector<float>{1, 6, 3, 8});
}

TEST_CASE("TfliteReader_HostileIndices_AreErrorsThatNameThem") {
  const auto failure = [](const std::vector<int>& inputs, const std::vector<int>& outputs) {
    FileBuilder file;
    const int x = file.tensor("x", {1, 2});
    file.tensor("y", {1, 2});
    file.add(fb::BuiltinOperator::RELU, inputs, outputs, flatbuffers::Offset<void>(),
             fb::BuiltinOptions::NONE);
    const auto graph = tflite::read(file.finish({x}, {1}));
    REQUIRE_FALSE(graph.ok());
    return graph.error().message;
  };
  CHECK(failure({7}, {1}).find("tensor 7 of 2") != std::string::npos);
  CHECK(failure({-2}, {1}).find("tensor -2 of 2") != std::string::npos);
  CHECK(failure({1}, {1}).find("reads 'y', which no earlier operator produces") != std::string::npos);
  CHECK(failure({0}, {0}).find("produces 'x', which exists already") != std::string::npos);
  CHECK(failure({}, {1}).find("0 inputs") != std::string::npos);
}

TEST_CASE("TfliteReader_DamagedFiles_AreErrorsAtMost") {
  const std::uint64_t seed = test_seed(20262);
  SEED_INFO(seed);
  Rng rng(seed);
  const auto good =
      convolutions(random_floats({3, 3, 3, 2}, 1), random_floats({3}, 2), random_floats({1, 3, 3, 6}, 3));
  const AllocationWatch watch;
  for (int i = 0; i < repetitions(3000); ++i) {
    const auto graph = tflite::read(mutated(good, rng));
    if (!graph.ok()) continue;
    const auto onnx = tf::to_onnx(*graph);
    if (!onnx.ok()) continue;
    auto built_graph = build_graph(*onnx);
    if (built_graph.ok()) (void)infer_shapes(*std::move(built_graph));
  }
  CHECK(watch.largest() < std::size_t{64} << 20);
}

}  // namespace driftscope::test
