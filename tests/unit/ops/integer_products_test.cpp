// ConvInteger, MatMulInteger, QLinearConv, QLinearMatMul, DynamicQuantizeLinear beyond the ONNX
// cases.
#include <doctest/doctest.h>

#include <cmath>

#include "core/base/rng.hpp"
#include "core/ops/shared/quantization.hpp"
#include "unit/ops/one_node.hpp"
#include "unit/support/seed.hpp"

namespace driftscope::test::integer_products_test {
namespace {

Tensor u8(Shape shape, const std::vector<std::uint8_t>& values) {
  return tensor<std::uint8_t>(std::move(shape), values);
}
Tensor s8(Shape shape, const std::vector<std::int8_t>& values) {
  return tensor<std::int8_t>(std::move(shape), values);
}
Tensor random_bytes(Rng& rng, Shape shape) {
  std::vector<std::uint8_t> values(static_cast<std::size_t>(element_count(shape)));
  for (auto& x : values) x = static_cast<std::uint8_t>(rng.below(256));
  return u8(std::move(shape), values);
}
Tensor scalar(float x) { return floats({}, {x}); }

}  // namespace

TEST_CASE("MatMulInteger_ZeroPointsPerRowAndColumn_AreSubtracted") {
  OneNode node{"MatMulInteger",
               {u8({2, 2}, {1, 2, 3, 4}), s8({2, 2}, {5, 6, 7, 8}), u8({2}, {1, 3}), s8({2}, {5, 8})}};
  // [[0 1] [0 1]] · [[0 −2] [2 0]]
  CHECK(node.numbers() == std::vector<double>{2, 0, 2, 0});
  node.inputs[2] = u8({2, 1}, {1, 3});
  node.inputs[3] = s8({1, 2}, {5, 8});
  CHECK(node.numbers() == std::vector<double>{2, 0, 2, 0});
  node.inputs[2] = u8({3}, {1, 2, 3});
  CHECK(contains(node.error().message, "input 2 (a_zero_point)"));
}

TEST_CASE("MatMulInteger_LargeSums_WrapAround") {
  // 33026 · 255 · 255 is just beyond 2³¹.
  const std::int64_t depth = 33026;
  const std::vector<std::uint8_t> full(static_cast<std::size_t>(depth), 255);
  const OneNode node{"MatMulInteger", {u8({1, depth}, full), u8({depth, 1}, full)}};
  CHECK(node.numbers()[0] == static_cast<double>(depth * 255 * 255) - 0x1p32);
}

TEST_CASE("ConvInteger_Padding_CountsAsTheZeroPoint") {
  const OneNode node{"ConvInteger",
                     {u8({1, 1, 2, 2}, {11, 12, 13, 14}), u8({1, 1, 2, 2}, {1, 1, 1, 1}), u8({}, {10})},
                     {ints("pads", {1, 1, 0, 0})}};
  CHECK(node.numbers() == std::vector<double>{1, 3, 4, 10});
}

TEST_CASE("ConvInteger_WeightZeroPointPerChannel_IsSubtracted") {
  const OneNode node{"ConvInteger",
                     {u8({1, 1, 1, 1}, {3}), s8({2, 1, 1, 1}, {5, 5}), std::nullopt, s8({2}, {1, -1})}};
  CHECK(node.numbers() == std::vector<double>{12, 18});
}

TEST_CASE("QLinearConv_PerChannelScalesAndBias_FollowTheFormula") {
  const std::uint64_t seed = test_seed(91);
  SEED_INFO(seed);
  Rng rng(seed);
  const Tensor x = random_bytes(rng, {2, 4, 5, 6});
  const Tensor w = random_bytes(rng, {6, 2, 3, 3});
  const std::vector<float> w_scale = {0.01f, 0.02f, 0.005f, 0.03f, 0.011f, 0.007f};
  const std::vector<std::uint8_t> w_zero = {100, 120, 128, 140, 90, 127};
  std::vector<std::int32_t> bias(6);
  for (auto& b : bias) b = static_cast<std::int32_t>(rng.below(4000)) - 2000;
  const std::vector<Attribute> geometry = {integer("group", 2), ints("pads", {1, 0, 1, 1}),
                                           ints("strides", {2, 1})};
  const OneNode sums{"ConvInteger", {x, w, u8({}, {111}), u8({6}, w_zero)}, geometry};
  const OneNode node{"QLinearConv",
                     {x, scalar(0.02f), u8({}, {111}), w, floats({6}, w_scale), u8({6}, w_zero),
                      scalar(0.05f), u8({}, {128}), tensor<std::int32_t>({6}, bias)},
                     geometry};
  const Tensor y = node.run()[0];
  const std::vector<double> got = as_doubles(y);
  const std::vector<double> acc = sums.numbers();
  const std::size_t plane = got.size() / 12;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::size_t m = i / plane % 6;
    const double q = (acc[i] + bias[m]) * double{0.02f} * static_cast<double>(w_scale[m]) / double{0.05f};
    CHECK(std::fabs(got[i] - std::fmin(std::fmax(q + 128, 0.0), 255.0)) <= 0.5001);
  }
}

TEST_CASE("QLinearMatMul_ScalesPerRowAndColumn_FollowTheFormula") {
  const OneNode node{
      "QLinearMatMul",
      {u8({2, 2}, {1, 2, 3, 4}), floats({2}, {1, 2}), u8({2}, {0, 1}), s8({2, 2}, {1, -1, 2, 3}),
       floats({2}, {1, 0.5f}), s8({2}, {0, 1}), scalar(0.5f), s8({}, {-1})}};
  // [[1 2] [2 3]] · [[1 −2] [2 2]] = [[5 2] [8 2]], times [1 2]ᵀ·[1 ½] · 2, less 1.
  CHECK(node.numbers() == std::vector<double>{9, 1, 31, 3});
}

TEST_CASE("QLinearMatMul_NearTheMiddle_LeavesRoomForOneStep") {
  // 5 · 0.1 · 1 / 0.2 is 2.5 but for the rounding of the scales.
  OneNode node{"QLinearMatMul",
               {u8({1, 1}, {5}), scalar(0.1f), u8({}, {0}), u8({1, 1}, {1}), scalar(1), u8({}, {0}),
                scalar(0.2f), u8({}, {0})}};
  CHECK(node.bounded()[0].worst == 1.0);
  node.inputs[1] = scalar(0.11f);
  CHECK(node.bounded()[0].worst == 0.0);
}

TEST_CASE("DynamicQuantizeLinear_ZerosAlone_HaveTheScaleOne") {
  OneNode node{"DynamicQuantizeLinear", {floats({2}, {0, 0})}};
  node.outputs = 3;
  const auto results = node.run();
  CHECK(as_doubles(results[0]) == std::vector<double>{0, 0});
  CHECK(as_doubles(results[1]) == std::vector<double>{1});
}

TEST_CASE("DynamicQuantizeLinear_RangeAlwaysContainsZero") {
  OneNode node{"DynamicQuantizeLinear", {floats({3}, {51, 102, 255})}};
  node.outputs = 3;
  const auto results = node.run();
  CHECK(as_doubles(results[0]) == std::vector<double>{51, 102, 255});
  CHECK(as_doubles(results[1]) == std::vector<double>{1});
  CHECK(as_doubles(results[2]) == std::vector<double>{0});
}

TEST_CASE("IntegerProducts_WrongInputs_AreErrors") {
  const Tensor x = u8({1, 1, 2, 2}, {1, 2, 3, 4});
  CHECK(contains(OneNode{"ConvInteger", {x, floats({1, 1, 1, 1}, {1})}}.error().message,
                 "input 1 (w): expected uint8 or int8, got float32"));
  CHECK(contains(OneNode{"ConvInteger", {x, x, u8({2}, {1, 2})}}.error().message,
                 "input 2 (x_zero_point): expected one number"));
  CHECK(contains(OneNode{"ConvInteger", {x, u8({1, 2, 1, 1}, {1, 2})}}.error().message, "input 1 (w)"));
  CHECK(contains(OneNode{"MatMulInteger", {u8({1, 2}, {1, 2}), u8({3, 1}, {1, 2, 3})}}.error().message,
                 "input 1 (B)"));
}

}  // namespace driftscope::test::integer_products_test
