// Operators of the domain com.microsoft, in closed form. Attribute sweeps against ONNX Runtime itself:
// tests/python/frameworks/test_contrib_operators.py.
#include <doctest/doctest.h>

#include <cmath>

#include "unit/ops/one_node.hpp"

namespace driftscope::test::contrib_test {
namespace {

using Numbers = std::vector<double>;

OneNode contrib(const std::string& op, Given inputs, std::vector<Attribute> attributes = {},
                int outputs = 1) {
  return {op, std::move(inputs), std::move(attributes), 21, outputs, "com.microsoft"};
}

Tensor u8(Shape shape, const std::vector<std::uint8_t>& values) {
  return tensor<std::uint8_t>(std::move(shape), values);
}
Tensor s32(Shape shape, const std::vector<std::int32_t>& values) {
  return tensor<std::int32_t>(std::move(shape), values);
}
Tensor scalar(float x) { return floats({}, {x}); }
Tensor zeros(Shape shape) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  return floats(std::move(shape), std::vector<float>(count, 0.0F));
}

/// Of which a product reads out the weights.
Tensor identity(std::int64_t size) {
  std::vector<float> values(static_cast<std::size_t>(size * size), 0.0F);
  for (std::int64_t i = 0; i < size; ++i) values[static_cast<std::size_t>(i * size + i)] = 1.0F;
  return floats({size, size}, values);
}

void near(const Numbers& got, const Numbers& want, double tolerance = 1e-5) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("element " << i);
    CHECK(std::fabs(got[i] - want[i]) <= tolerance * (1 + std::fabs(want[i])));
  }
}

// 16 weights 0, 1, … of 4 bits, low bits first.
const std::vector<std::uint8_t> nibbles = {0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE};

OneNode four_bits(std::optional<Tensor> zero_points = std::nullopt) {
  return contrib("MatMulNBits",
                 {identity(16), u8({1, 1, 8}, nibbles), floats({1, 1}, {0.5F}), std::move(zero_points)},
                 {integer("K", 16), integer("N", 1), integer("bits", 4), integer("block_size", 16)});
}

}  // namespace

TEST_CASE("MatMulNBits_FourBits_LowNibbleFirstAndMiddleAsZeroPoint") {
  Numbers want;
  for (int k = 0; k < 16; ++k) want.push_back((k - 8) * 0.5);
  CHECK(four_bits().numbers() == want);
  for (double& x : want) x += 2.5;  // a zero point of 3
  CHECK(four_bits(u8({1, 1}, {0xF3})).numbers() == want);
  CHECK(four_bits(floats({1, 1}, {3.0F})).numbers() == want);
}

TEST_CASE("MatMulNBits_TwoAndEightBits_AreUnpacked") {
  OneNode node =
      contrib("MatMulNBits", {identity(16), u8({1, 1, 4}, {0xE4, 0xE4, 0xE4, 0xE4}), floats({1}, {1.0F})},
              {integer("K", 16), integer("N", 1), integer("bits", 2), integer("block_size", 16)});
  const Numbers two = node.numbers();
  CHECK(Numbers(two.begin(), two.begin() + 4) == Numbers{-2, -1, 0, 1});
  std::vector<std::uint8_t> bytes(16, 128);
  bytes[3] = 255;
  node.inputs[1] = u8({1, 1, 16}, bytes);
  node.attributes[2] = integer("bits", 8);
  const Numbers eight = node.numbers();
  CHECK(eight[0] == 0);
  CHECK(eight[3] == 127);
}

TEST_CASE("MatMulNBits_GroupIndices_ChooseTheScale") {
  std::vector<std::int32_t> groups(32, 0);
  groups[0] = 1;
  std::vector<std::uint8_t> bytes(16, 0x99);
  OneNode node = contrib("MatMulNBits",
                         {identity(32), u8({1, 2, 8}, bytes), floats({2}, {1.0F, 10.0F}), std::nullopt,
                          s32({32}, groups), floats({1}, {0.25F})},
                         {integer("K", 32), integer("N", 1), integer("bits", 4), integer("block_size", 16)});
  Numbers want(32, 1.25);
  want[0] = 10.25;
  CHECK(node.numbers() == want);
  groups[5] = 2;
  node.inputs[4] = s32({32}, groups);
  CHECK(contains(node.error().message, "input 4 (g_idx): element 5 is 2, there are blocks 0 to 1"));
}

TEST_CASE("MatMulNBits_WrongSizes_AreNamed") {
  OneNode node = four_bits();
  node.inputs[1] = u8({1, 1, 7}, {0, 0, 0, 0, 0, 0, 0});
  CHECK(contains(node.error().message, "input 1 (B): expected 8 elements"));
  CHECK(contains(node.error().message, "got 7"));
  node = four_bits(u8({2}, {0, 0}));
  CHECK(contains(node.error().message, "input 3 (zero_points): expected 1 elements"));
  node = four_bits();
  node.inputs[2] = floats({2}, {1, 1});
  CHECK(contains(node.error().message, "input 2 (scales): expected 1 elements (N 1 × 1 blocks), got 2"));
  node = four_bits();
  node.inputs[0] = identity(15);
  CHECK(contains(node.error().message, "input 0 (A): expected 16 as its last size (K)"));
  node = four_bits();
  node.attributes[3] = integer("block_size", 24);
  CHECK(contains(node.error().message, "attribute block_size: expected a power of 2"));
  node.attributes = {integer("N", 1), integer("block_size", 16)};
  CHECK(contains(node.error().message, "attribute K: it is required"));
}

TEST_CASE("MatMulBnb4_HighNibbleFirst_TimesAbsmax") {
  OneNode node =
      contrib("MatMulBnb4", {identity(2), u8({1}, {0x0F}), floats({1}, {2.0F})},
              {integer("K", 2), integer("N", 1), integer("block_size", 16), integer("quant_type", 1)});
  CHECK(node.numbers() == Numbers{-2, 2});
  node.attributes[3] = integer("quant_type", 0);
  node.inputs[1] = u8({1}, {0x3B});
  CHECK(node.numbers() == Numbers{2, -2});
  node.inputs[2] = floats({2}, {1, 1});
  CHECK(contains(node.error().message, "input 2 (absmax): expected 1 elements"));
}

TEST_CASE("GatherBlockQuantized_Uint8OfFourBits_UnpacksItsLastAxis") {
  std::vector<std::uint8_t> data(nibbles);
  data.insert(data.end(), 8, 0x88);
  OneNode node = contrib("GatherBlockQuantized",
                         {u8({2, 8}, data), tensor<std::int64_t>({1}, {0}), floats({2, 1}, {0.5F, 1.0F})},
                         {integer("gather_axis", 0), integer("quantize_axis", 1), integer("block_size", 16)});
  Numbers want;
  for (int k = 0; k < 16; ++k) want.push_back((k - 8) * 0.5);
  CHECK(node.numbers() == want);
  CHECK(node.shape() == Shape{1, 16});
  node.inputs[2] = floats({2, 2}, {1, 1, 1, 1});
  CHECK(contains(node.error().message, "input 2 (scales): expected shape 2x1, got 2x2"));
  node.inputs[2] = floats({2, 1}, {1, 1});
  node.inputs[1] = tensor<std::int64_t>({1}, {2});
  CHECK(contains(node.error().message, "input 1 (indices): 2 is not in [-2, 2)"));
}

TEST_CASE("SimplifiedLayerNormalization_DividesByTheRootOfTheMeanSquare") {
  const OneNode node{
      "SimplifiedLayerNormalization", {floats({1, 2}, {3, 4}), floats({2}, {1, 2})}, {real("epsilon", 0.0F)}};
  close(node, {3 / std::sqrt(12.5), 8 / std::sqrt(12.5)});
  const OneNode newer{
      "RMSNormalization", {floats({1, 2}, {3, 4}), floats({2}, {1, 2})}, {real("epsilon", 0.0F)}, 23};
  close(newer, {3 / std::sqrt(12.5), 8 / std::sqrt(12.5)});
}

TEST_CASE("SkipLayerNormalization_NormalizesTheSum") {
  const auto x = floats({1, 2, 4}, {1, 2, 4, 8, -1, 0, 3, 5});
  const auto skip = floats({2, 4}, {1, 1, 0, 0, 2, 2, 2, 2});
  const auto gamma = floats({4}, {1, 2, 3, 4});
  const auto beta = floats({4}, {0, 1, 0, -1});
  const auto bias = floats({4}, {0.5F, 0, 0, -2});
  OneNode node = contrib("SkipLayerNormalization", {x, skip, gamma, beta, bias}, {real("epsilon", 1e-5F)});
  const OneNode plain{"LayerNormalization",
                      {floats({1, 2, 4}, {2.5F, 3, 4, 6, 1.5F, 2, 5, 5}), gamma, beta},
                      {real("epsilon", 1e-5F)}};
  const auto bounds = plain.bounded();
  Numbers want;
  for (const Bounded& one : bounds) want.push_back(one.value);
  close(node, want);
  node.inputs[1] = floats({3, 4}, std::vector<float>(12, 0));
  CHECK(contains(node.error().message, "input 1 (skip): expected the shape of input 0"));
}

TEST_CASE("RotaryEmbedding_QuarterTurn_SwapsHalvesOrNeighbours") {
  const auto x = floats({1, 1, 4}, {1, 2, 3, 4});
  const auto cos = floats({2, 2}, {1, 1, 0, 0});
  const auto sin = floats({2, 2}, {0, 0, 1, 1});
  OneNode node = contrib("RotaryEmbedding", {x, tensor<std::int64_t>({1}, {1}), cos, sin});
  CHECK(node.numbers() == Numbers{-3, -4, 1, 2});
  node.attributes = {integer("interleaved", 1)};
  CHECK(node.numbers() == Numbers{-2, 1, -4, 3});
  node.inputs[1] = tensor<std::int64_t>({1}, {2});
  CHECK(contains(node.error().message, "position 0 of sequence 0 is 2, the caches have 2 rows"));
  node.inputs[3] = floats({1, 2}, {0, 0});
  CHECK(contains(node.error().message, "input 3 (sin_cache): expected shape 2x2, got 1x2"));
}

namespace {

// One head of one element per position; a query of zeros weighs all keys alike.
OneNode zero_query(const std::vector<Attribute>& more = {}) {
  std::vector<Attribute> attributes = {integer("num_heads", 1), integer("kv_num_heads", 1)};
  attributes.insert(attributes.end(), more.begin(), more.end());
  return contrib("GroupQueryAttention",
                 {zeros({1, 2, 1}), zeros({1, 2, 1}), floats({1, 2, 1}, {3, 5}), zeros({1, 1, 1, 1}),
                  floats({1, 1, 1, 1}, {1}), s32({1}, {2}), s32({}, {3})},
                 attributes, 3);
}

}  // namespace

TEST_CASE("GroupQueryAttention_ZeroQuery_AveragesWhatCameBefore") {
  near(zero_query().strict_numbers(), {2, 3});  // (1 + 3) / 2, (1 + 3 + 5) / 3
  near(zero_query({integer("local_window_size", 2)}).strict_numbers(), {2, 4});
  near(zero_query({integer("local_window_size", 1)}).strict_numbers(), {3, 5});
  // One more score of 0 takes a share.
  near(zero_query({integer("smooth_softmax", 1)}).strict_numbers(), {4.0 / 3, 9.0 / 4});
  const auto made = strict_outputs(zero_query().graph(), zero_query().named());
  REQUIRE(made.ok());
  CHECK(as_doubles((*made)[2]) == Numbers{1, 3, 5});
}

TEST_CASE("GroupQueryAttention_CachesOfOtherSizes_AreNamed") {
  OneNode node = zero_query();
  node.inputs[3] = zeros({1, 2, 1, 1});
  CHECK(contains(node.error().message, "input 3 (past_key): expected shape 1x1x1x1, got 1x2x1x1"));
  node = zero_query();
  node.inputs[4] = std::nullopt;
  CHECK(contains(node.error().message, "inputs 3 (past_key) and 4 (past_value)"));
  node = zero_query();
  node.inputs[5] = s32({1}, {5});
  CHECK(contains(node.error().message, "input 5 (seqlens_k): element 0 is 5"));
  node = zero_query();
  node.inputs[5] = s32({2}, {2, 2});
  CHECK(contains(node.error().message, "input 5 (seqlens_k): expected 1 elements"));
  node = zero_query({integer("do_rotary", 1)});
  CHECK(contains(node.error().message, "input 7 (cos_cache): do_rotary needs it"));
  node = zero_query();
  node.attributes[1] = integer("kv_num_heads", 2);
  CHECK(contains(node.error().message, "attribute num_heads: 1 is not a multiple of kv_num_heads 2"));
}

TEST_CASE("MultiHeadAttention_MasksAndCaches_ChooseTheKeys") {
  OneNode node =
      contrib("MultiHeadAttention", {zeros({1, 1, 1}), zeros({1, 3, 1}), floats({1, 3, 1}, {1, 2, 6})},
              {integer("num_heads", 1)});
  near(node.strict_numbers(), {3});
  node.inputs.push_back(std::nullopt);
  node.inputs.push_back(s32({1, 3}, {1, 1, 0}));
  near(node.strict_numbers(), {1.5});
  node.inputs[4] = s32({1, 2}, {1, 1});
  CHECK(contains(node.error().message, "input 4 (key_padding_mask): expected shape 1x3, got 1x2"));
  // The rows of the queries are the last ones of as many as there are keys.
  OneNode wide = contrib(
      "MultiHeadAttention",
      {zeros({1, 3, 1}), zeros({1, 1, 1}), zeros({1, 1, 1}), std::nullopt, s32({1, 1, 2, 2}, {1, 1, 1, 1})},
      {integer("num_heads", 1)});
  CHECK(contains(wide.error().message, "four axes need at least as many keys as queries, got 1 and 3"));
  node.inputs[4] = std::nullopt;
  node.inputs.push_back(floats({1, 1, 1, 3}, {0, 0, std::log(2.0F)}));
  near(node.strict_numbers(), {(1 + 2 + 12) / 4.0});
}

TEST_CASE("Attention_ProjectsThenAttends") {
  // Queries and keys are 0, values twice the input.
  OneNode node =
      contrib("Attention", {floats({1, 2, 1}, {1, 3}), floats({1, 3}, {0, 0, 2}), floats({3}, {0, 0, 1})},
              {integer("num_heads", 1)});
  near(node.strict_numbers(), {5, 5});
  node.attributes.push_back(integer("unidirectional", 1));
  near(node.strict_numbers(), {3, 5});
  node.inputs[1] = floats({1, 4}, {0, 0, 2, 0});
  CHECK(contains(node.error().message, "input 1 (weights): 4 columns cannot be split"));
}

TEST_CASE("FusedMatMul_TransposesAndScales") {
  const OneNode node = contrib("FusedMatMul", {floats({2, 2}, {1, 2, 3, 4}), floats({2, 2}, {1, 0, 1, 1})},
                               {real("alpha", 0.5F), integer("transA", 1)});
  CHECK(node.numbers() == Numbers{2, 1.5, 3, 2});
}

TEST_CASE("FusedConv_AddsThenActivates") {
  const OneNode node = contrib("FusedConv",
                               {floats({1, 1, 1, 2}, {1, -2}), floats({1, 1, 1, 1}, {3}), floats({1}, {0.5F}),
                                floats({1, 1, 1, 2}, {1, 1})},
                               {text("activation", "Relu")});
  CHECK(node.numbers() == Numbers{4.5, 0});
}

TEST_CASE("QGemm_IntegerTermAndScales_AreAppliedInThisOrder") {
  OneNode node = contrib("QGemm",
                         {u8({1, 2}, {3, 5}), scalar(0.5F), u8({}, {1}), u8({2, 1}, {4, 2}), scalar(0.25F),
                          u8({}, {2}), s32({1}, {12})},
                         {real("alpha", 2.0F)});
  // (2·2 + 4·0 + 12) · 2 · 0.5 · 0.25
  CHECK(node.numbers() == Numbers{4});
  node.inputs.push_back(scalar(0.5F));
  node.inputs.push_back(u8({}, {10}));
  CHECK(node.numbers() == Numbers{18});
  node.inputs.pop_back();
  CHECK(contains(node.error().message, "inputs 7 (y_scale) and 8 (y_zero_point)"));
}

TEST_CASE("QLinearAddAndMul_WorkOnWhatTheStepsStandFor") {
  const Given inputs = {u8({2}, {12, 20}), scalar(0.5F), u8({}, {10}), u8({2}, {3, 1}),
                        scalar(1.0F),      u8({}, {1}),  scalar(0.5F), u8({}, {100})};
  CHECK(contrib("QLinearAdd", inputs).numbers() == Numbers{106, 110});
  CHECK(contrib("QLinearMul", inputs).numbers() == Numbers{104, 100});
}

TEST_CASE("QLinearFunctions_QuantizeTheResultOfTheFunction") {
  CHECK(contrib("QLinearLeakyRelu",
                {u8({2}, {12, 6}), scalar(1.0F), u8({}, {10}), scalar(1.0F), u8({}, {20})},
                {real("alpha", 0.5F)})
            .numbers() == Numbers{22, 18});
  CHECK(contrib("QLinearGlobalAveragePool",
                {u8({1, 2, 1, 1}, {2, 6}), scalar(1.0F), u8({}, {0}), scalar(1.0F), u8({}, {1})},
                {integer("channels_last", 1)})
            .numbers() == Numbers{5});
  CHECK(contrib("QLinearConcat",
                {scalar(0.5F), u8({}, {0}), u8({1, 1}, {3}), scalar(1.0F), u8({}, {1}), u8({1, 1}, {7}),
                 scalar(0.5F), u8({}, {0})},
                {integer("axis", 1)})
            .numbers() == Numbers{4, 7});
}

TEST_CASE("BiasGelu_IsGeluOfTheSum") {
  const OneNode plain{"Gelu", {floats({2}, {1.5F, -2})}};
  const OneNode node = contrib("BiasGelu", {floats({1, 2}, {1, 1}), floats({2}, {0.5F, -3})});
  Numbers want;
  for (const Bounded& one : plain.bounded()) want.push_back(one.value);
  close(node, want);
  close(contrib("QuickGelu", {floats({1}, {2})}, {real("alpha", 1.0F)}), {2 / (1 + std::exp(-2.0))});
}

TEST_CASE("EmbedLayerNormalization_CountsTheMask") {
  const OneNode node =
      contrib("EmbedLayerNormalization",
              {s32({1, 2}, {1, 0}), std::nullopt, floats({2, 2}, {0, 0, 1, 3}), floats({2, 2}, {0, 0, 1, 0}),
               std::nullopt, floats({2}, {1, 1}), floats({2}, {0, 0}), s32({1, 2}, {1, 0})},
              {}, 2);
  const auto made = strict_outputs(node.graph(), node.named());
  REQUIRE(made.ok());
  near(as_doubles((*made)[0]), {-1, 1, 1, -1});
  CHECK(as_doubles((*made)[1]) == Numbers{1});
}

TEST_CASE("DynamicQuantizeMatMul_IsTheChainOfItsParts") {
  // 0 to 255 in steps of 1: nothing is lost.
  const OneNode node = contrib("DynamicQuantizeMatMul", {floats({1, 2}, {0, 255}), u8({2, 1}, {3, 5}),
                                                         scalar(0.5F), u8({}, {1}), floats({1}, {1})});
  close(node, {511});
}

TEST_CASE("DynamicQuantizeLSTM_StatesThatQuantizationKeeps_GiveTheLstm") {
  // X is 0 or 255 steps of 1/255; R is 0, so that h matters not.
  std::vector<std::int8_t> w = {2, -3, 1, 4};
  OneNode node = contrib("DynamicQuantizeLSTM",
                         {floats({2, 1, 1}, {0, 1}), tensor<std::int8_t>({1, 1, 4}, w),
                          tensor<std::int8_t>({1, 1, 4}, {0, 0, 0, 0}), std::nullopt, std::nullopt,
                          std::nullopt, std::nullopt, std::nullopt, floats({1}, {0.5F}),
                          tensor<std::int8_t>({1}, {0}), floats({1}, {1.0F}), tensor<std::int8_t>({1}, {0})},
                         {integer("hidden_size", 1)});
  const OneNode plain{"LSTM",
                      {floats({2, 1, 1}, {0, 1}), floats({1, 4, 1}, {1, -1.5F, 0.5F, 2}), zeros({1, 4, 1})},
                      {integer("hidden_size", 1)}};
  Numbers want;
  for (const Bounded& one : plain.bounded()) want.push_back(one.value);
  near(node.strict_numbers(), want);
  node.inputs[8] = floats({1, 3}, {1, 1, 1});
  CHECK(contains(node.error().message, "input 8 (W_scale): expected shape 1x4, got 1x3"));
}

}  // namespace driftscope::test::contrib_test
