// Attention, RotaryEmbedding, Swish and TensorScatter of ONNX, in closed form.
#include <doctest/doctest.h>

#include <cmath>

#include "unit/ops/one_node.hpp"

namespace driftscope::test::attention_test {
namespace {

using Numbers = std::vector<double>;

Tensor none(Shape shape) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  return floats(std::move(shape), std::vector<float>(count, 0.0F));
}

// A query of zeros weighs all keys alike.
OneNode zero_query(std::vector<Attribute> attributes = {}) {
  return {"Attention",
          {none({1, 1, 2, 1}), none({1, 1, 3, 1}), floats({1, 1, 3, 1}, {1, 2, 6})},
          std::move(attributes),
          25};
}

void near(const Numbers& got, const Numbers& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK(std::fabs(got[i] - want[i]) <= 1e-5 * (1 + std::fabs(want[i])));
}

}  // namespace

TEST_CASE("Attention_ZeroQuery_AveragesTheKeysThatItMayLookAt") {
  near(zero_query().strict_numbers(), {3, 3});
  near(zero_query({integer("is_causal", 1)}).strict_numbers(), {1, 1.5});
  near(zero_query({integer("left_window_size", 0), integer("right_window_size", 1)}).strict_numbers(),
       {1.5, 4});
  OneNode masked = zero_query();
  auto mask = Tensor::make(DType::boolean, {2, 2});  // shorter than the keys: the last is left out
  REQUIRE(mask.ok());
  mask->mutable_bytes()[0] = mask->mutable_bytes()[3] = std::byte{1};
  masked.inputs.push_back(*mask);
  near(masked.strict_numbers(), {1, 2});
  mask->mutable_bytes()[0] = std::byte{0};
  masked.inputs[3] = *mask;
  near(masked.strict_numbers(), {0, 2});  // no key is left
  masked.inputs[3] = floats({1, 3}, {0, 0, std::log(2.0F)});
  near(masked.strict_numbers(), {15 / 4.0, 15 / 4.0});
}

TEST_CASE("Attention_KeepsScoresAtOneOfFourPlaces") {
  const auto kept = [](std::int64_t mode) {
    OneNode node{"Attention",
                 {floats({1, 1, 2, 1}, {1, 2}), floats({1, 1, 2, 1}, {1, 3}), floats({1, 1, 2, 1}, {1, 2})},
                 {integer("is_causal", 1), integer("qk_matmul_output_mode", mode), real("softcap", 2.0F)},
                 25};
    node.outputs = 4;
    const auto made = strict_outputs(node.graph(), node.named());
    REQUIRE_MESSAGE(made.ok(), made.error().message);
    CHECK((*made)[3].shape() == Shape{1, 1, 2, 2});
    return as_doubles((*made)[3]);
  };
  const auto cap = [](double score) { return 2 * std::tanh(score / 2); };
  near(kept(0), {1, 3, 2, 6});
  near(kept(1), {cap(1), cap(3), cap(2), cap(6)});
  const Numbers biased = kept(2);
  near({biased[0], biased[2], biased[3]}, {cap(1), cap(2), cap(6)});
  CHECK(biased[1] == -std::numeric_limits<double>::infinity());
  const double second = 1 / (1 + std::exp(cap(2) - cap(6)));
  near(kept(3), {1, 0, 1 - second, second});
}

TEST_CASE("Attention_CachesAndValidKeys_MoveTheCausalBorder") {
  OneNode node = zero_query({integer("is_causal", 1)});
  node.inputs = {none({1, 1, 1, 1}), none({1, 1, 1, 1}), floats({1, 1, 1, 1}, {6}),
                 std::nullopt,       none({1, 1, 2, 1}), floats({1, 1, 2, 1}, {1, 2})};
  near(node.strict_numbers(), {3});
  node.inputs[5] = floats({1, 1, 3, 1}, {1, 2, 3});
  CHECK(contains(node.error().message, "input 5 (past_value): expected shape 1x1x2x1, got 1x1x3x1"));
  node = zero_query({integer("is_causal", 1)});
  node.inputs.resize(7);
  node.inputs[6] = tensor<std::int64_t>({1}, {2});
  near(node.strict_numbers(), {1, 1.5});
}

TEST_CASE("Attention_ThreeAxes_NeedTheNumbersOfHeads") {
  OneNode node{"Attention",
               {none({1, 1, 4}), none({1, 2, 2}), floats({1, 2, 2}, {1, 2, 3, 4})},
               {integer("q_num_heads", 2), integer("kv_num_heads", 1)},
               23};
  near(node.strict_numbers(), {2, 3, 2, 3});
  CHECK(node.graph().nodes.size() == 1);
  node.attributes.pop_back();
  CHECK(contains(node.error().message, "attribute kv_num_heads: needed where input 1 (K) has three axes"));
}

TEST_CASE("RotaryEmbedding_OfOnnx_TakesARowForEachPosition") {
  OneNode node{"RotaryEmbedding",
               {floats({1, 1, 1, 4}, {1, 2, 3, 4}), floats({1, 1, 2}, {0, 0}), floats({1, 1, 2}, {1, 1})},
               {},
               23};
  CHECK(node.numbers() == Numbers{-3, -4, 1, 2});
  node.inputs[1] = floats({2, 1}, {1, 0});
  node.inputs[2] = floats({2, 1}, {0, 1});
  node.inputs.push_back(tensor<std::int64_t>({1, 1}, {1}));
  node.attributes = {integer("rotary_embedding_dim", 2)};
  CHECK(node.numbers() == Numbers{-2, 1, 3, 4});
  node.inputs[3] = tensor<std::int64_t>({1, 1}, {2});
  CHECK(contains(node.error().message, "input 3 (position_ids): position 0 of sequence 0 is 2"));
}

TEST_CASE("Swish_IsXTimesItsSigmoid") {
  close({"Swish", {floats({2}, {2, -1})}, {}, 24}, {2 / (1 + std::exp(-2.0)), -1 / (1 + std::exp(1.0))});
}

TEST_CASE("TensorScatter_WritesAtTheIndices_AndGoesOnAtTheFrontIfCircular") {
  OneNode node{"TensorScatter",
               {floats({2, 3, 1}, {1, 2, 3, 4, 5, 6}), floats({2, 2, 1}, {10, 20, 30, 40}), longs({1, 0})},
               {},
               24};
  CHECK(node.numbers() == Numbers{1, 10, 20, 30, 40, 6});
  node.inputs[2] = longs({2, 0});
  CHECK(contains(node.error().message, "input 2 (write_indices): element 0 is 2"));
  node.attributes = {text("mode", "circular")};
  CHECK(node.numbers() == Numbers{20, 2, 10, 30, 40, 6});
  node.inputs[1] = floats({2, 4, 1}, std::vector<float>(8, 0));
  CHECK(contains(node.error().message, "input 1 (update): 4 positions along axis 1, the cache has 3"));
}

}  // namespace driftscope::test::attention_test
