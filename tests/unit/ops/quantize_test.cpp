// QuantizeLinear and DequantizeLinear beyond the ONNX cases of opset 10 to 13: ties, narrow types,
// blocks, bounds of integers.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/numerics/error_model.hpp"
#include "core/ops/shared/quantization.hpp"
#include "unit/ops/one_node.hpp"

namespace driftscope::test::quantize_test {
namespace {

Tensor packed(DType dtype, Shape shape, const std::vector<std::int32_t>& values) {
  auto made = Tensor::make(dtype, std::move(shape));
  REQUIRE(made.ok());
  store_quantized(values, *made);
  return *made;
}

Tensor bytes(const std::vector<std::int8_t>& values) {
  return tensor<std::int8_t>({static_cast<std::int64_t>(values.size())}, values);
}
Tensor zero_u8(std::uint8_t value) { return tensor<std::uint8_t>({}, {value}); }

std::vector<std::int32_t> steps(const OneNode& node) { return quantized_values(node.run()[0]); }

}  // namespace

TEST_CASE("QuantizeLinear_Ties_GoToEven") {
  const OneNode node{
      "QuantizeLinear",
      {floats({6}, {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f}), floats({}, {1}), tensor<std::int8_t>({}, {0})}};
  CHECK(steps(node) == std::vector<std::int32_t>{0, 2, 2, 0, -2, -2});
}

TEST_CASE("QuantizeLinear_BeyondTheRange_Saturates") {
  const float infinity = std::numeric_limits<float>::infinity();
  const OneNode node{"QuantizeLinear",
                     {floats({5}, {1e30f, -1e30f, infinity, -infinity, 3}), floats({}, {0.5f}), zero_u8(10)}};
  CHECK(steps(node) == std::vector<std::int32_t>{255, 0, 255, 0, 16});
}

TEST_CASE("QuantizeLinear_WithoutZeroPoint_MakesUint8OrTheAskedType") {
  OneNode node{"QuantizeLinear", {floats({2}, {-1, 9}), floats({}, {1})}};
  CHECK(node.run()[0].dtype() == DType::uint8);
  node.attributes = {integer("output_dtype", 22)};
  CHECK(node.run()[0].dtype() == DType::int4);
  CHECK(steps(node) == std::vector<std::int32_t>{-1, 7});
  node.attributes = {integer("output_dtype", 5)};
  CHECK(node.run()[0].dtype() == DType::int16);
}

TEST_CASE("QuantizeLinear_ScalePerAxisAndPerBlock_AreFoundBySlice") {
  const Tensor x = floats({2, 4}, {1, 2, 3, 4, 10, 20, 30, 40});
  OneNode node{
      "QuantizeLinear", {x, floats({2}, {1, 10}), packed(DType::int8, {2}, {0, 1})}, {integer("axis", 0)}};
  CHECK(steps(node) == std::vector<std::int32_t>{1, 2, 3, 4, 2, 3, 4, 5});
  node.inputs = {x, floats({2, 2}, {1, 2, 10, 20}), packed(DType::uint4, {2, 2}, {0, 0, 5, 0})};
  node.attributes = {integer("axis", -1), integer("block_size", 2)};
  CHECK(steps(node) == std::vector<std::int32_t>{1, 2, 2, 2, 6, 7, 2, 2});
  // The last block may be short.
  node.inputs = {x, floats({2, 2}, {1, 4, 10, 40}), std::nullopt};
  node.attributes = {integer("axis", 1), integer("block_size", 3)};
  CHECK(steps(node) == std::vector<std::int32_t>{1, 2, 3, 1, 1, 2, 3, 1});
}

TEST_CASE("QuantizeLinear_NearTheMiddleOfTwoSteps_BothAreWithinTheBound") {
  // 0.25 / 0.1f lies 4e-8 below 2.5; 0.26 / 0.1f nowhere near a middle.
  const OneNode node{"QuantizeLinear", {floats({2}, {0.25f, 0.26f}), floats({}, {0.1f}), zero_u8(0)}};
  const std::vector<Bounded> bounds = node.bounded();
  CHECK(bounds[0].value == 2.0);
  CHECK(bounds[0].worst == 1.0);
  CHECK(bounds[1].value == 3.0);
  CHECK(bounds[1].worst == 0.0);
}

TEST_CASE("QuantizeLinear_ExactTieWithAPowerOfTwoScale_IsSure") {
  const OneNode node{"QuantizeLinear", {floats({1}, {0.625f}), floats({}, {0.25f}), zero_u8(0)}};
  CHECK(node.bounded()[0].value == 2.0);
  CHECK(node.bounded()[0].worst == 0.0);
}

TEST_CASE("QuantizeLinear_ErrorOfTheInput_ReachesOtherSteps") {
  const OneNode node{"QuantizeLinear", {floats({3}, {1.4f, 1.0f, 300.0f}), floats({}, {1}), zero_u8(0)}};
  const Graph graph = node.graph();
  ThreadPool threads(1);
  std::vector<Evaluated<Bounded>> inputs;
  for (const auto& input : node.inputs) inputs.push_back(*lift<Bounded>(*input));
  for (Bounded& x : inputs[0].real) x = Bounded(x.value, 0.2, 0.05);
  const std::vector<const Evaluated<Bounded>*> given = {&inputs[0], &inputs[1], &inputs[2]};
  const auto results = evaluate<Bounded>(graph.nodes[0], given, threads);
  REQUIRE(results.ok());
  const std::vector<Bounded>& bounds = (*results)[0].real;
  CHECK(bounds[0].worst == 1.0);
  CHECK(bounds[0].likely == 0.0);
  CHECK(bounds[1].worst == 0.0);
  CHECK(bounds[2].worst == 0.0);  // saturated either way
}

TEST_CASE("DequantizeLinear_InTwoTerms_MayCancel") {
  const float scale = 0.16080649f;
  const OneNode node{"DequantizeLinear",
                     {packed(DType::uint8, {1}, {123}), floats({}, {scale}), zero_u8(122)}};
  volatile float high = 123.0f * scale;  // two roundings, no fused multiply-add
  volatile float low = 122.0f * scale;
  const double error = std::fabs(static_cast<double>(high - low) - static_cast<double>(scale));
  REQUIRE(error > 0.0);
  CHECK(node.bounded()[0].worst < error);
  ErrorModel model;
  model.dequantizes_in_two_terms = true;
  const ErrorModelScope scope(model);
  CHECK(node.bounded()[0].likely >= error);
  CHECK(node.bounded()[0].worst < 3e-6);  // u·(123 + 122)·scale, and the last rounding
}

TEST_CASE("DequantizeLinear_EveryIntegerType_IsScaled") {
  const auto run = [](Tensor x, Tensor zero) {
    return OneNode{"DequantizeLinear", {std::move(x), floats({}, {0.5f}), std::move(zero)}}.numbers();
  };
  CHECK(run(bytes({-128, 127}), tensor<std::int8_t>({}, {-1})) == std::vector<double>{-63.5, 64});
  CHECK(run(packed(DType::uint8, {2}, {0, 255}), zero_u8(128)) == std::vector<double>{-64, 63.5});
  CHECK(run(packed(DType::int4, {3}, {-8, 7, 1}), packed(DType::int4, {}, {2})) ==
        std::vector<double>{-5, 2.5, -0.5});
  CHECK(run(packed(DType::uint4, {3}, {15, 0, 9}), packed(DType::uint4, {}, {8})) ==
        std::vector<double>{3.5, -4, 0.5});
  CHECK(run(tensor<std::int16_t>({1}, {-32768}), tensor<std::int16_t>({}, {32767})) ==
        std::vector<double>{-32767.5});
  CHECK(run(tensor<std::uint16_t>({1}, {65535}), tensor<std::uint16_t>({}, {1})) ==
        std::vector<double>{32767});
  CHECK(run(tensor<std::int32_t>({1}, {-2000000000}), tensor<std::int32_t>({}, {0})) ==
        std::vector<double>{-1e9});
}

TEST_CASE("DequantizeLinear_Float16Scale_MakesFloat16") {
  auto scale = Tensor::make(DType::float16, {});
  scale->mutable_values<std::uint16_t>()[0] = 0x3800;  // 0.5
  OneNode node{"DequantizeLinear", {bytes({3}), *scale}};
  const Tensor y = node.run()[0];
  CHECK(y.dtype() == DType::float16);
  CHECK(as_doubles(y) == std::vector<double>{1.5});
}

TEST_CASE("QuantizedLinear_WrongScales_AreErrors") {
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto error = [&](Tensor scale, std::vector<Attribute> attributes, std::int64_t opset = 21) {
    return OneNode{"QuantizeLinear", {x, std::move(scale)}, std::move(attributes), opset}.error().message;
  };
  CHECK(contains(error(floats({2}, {1, 1}), {}), "3 numbers as x has on axis 1"));
  CHECK(contains(error(floats({3}, {1, 1, 1}), {integer("axis", 4)}), "axis"));
  CHECK(contains(error(floats({2, 2}, {1, 1, 1, 1}), {integer("block_size", 1)}), "2x3"));
  CHECK(contains(error(floats({}, {1}), {integer("block_size", -1)}), "block_size"));
  CHECK(contains(error(floats({}, {1}), {integer("output_dtype", 7)}), "int64"));
  CHECK(contains(error(floats({3}, {1, 1, 1}), {}, 10), "before opset 13"));
  OneNode zeros{"DequantizeLinear", {bytes({1, 2}), floats({2}, {1, 1}), bytes({1})}, {integer("axis", 0)}};
  CHECK(contains(zeros.error().message, "input 2 (x_zero_point)"));
}

}  // namespace driftscope::test::quantize_test
