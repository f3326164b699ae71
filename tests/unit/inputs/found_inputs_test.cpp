// Values of inputs that nobody gave.
#include "core/inputs/found_inputs.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/inputs/integer_limits.hpp"
#include "core/inputs/name_patterns.hpp"
#include "core/trace/run_fact.hpp"
#include "generated/documents/chosen_inputs.hpp"
#include "unit/support/model_builder.hpp"

namespace driftscope::test::found_inputs_test {
namespace {

FoundInputs found(const ModelBuilder& model, std::uint64_t seed = 42) {
  auto inputs = found_inputs(built(model), seed);
  REQUIRE_MESSAGE(inputs.ok(), inputs.error().message);
  CHECK(bind_inputs(built(model), inputs->tensors).ok());
  return *std::move(inputs);
}

const Tensor& tensor_of(const FoundInputs& inputs, const std::string& name) {
  const auto place = std::ranges::find(inputs.tensors, name, &NamedTensor::name);
  REQUIRE(place != inputs.tensors.end());
  return place->tensor;
}

template <class T>
std::vector<T> values(const FoundInputs& inputs, const std::string& name) {
  const auto all = tensor_of(inputs, name).values<T>();
  return {all.begin(), all.end()};
}

/// A model that does nothing with these inputs.
struct Plain {
  ModelBuilder model;
  int outputs = 0;
  Plain& input(const std::string& name, DType dtype, const std::vector<Dim>& dims) {
    const std::string y = "y" + std::to_string(outputs++);
    model.input(name, dtype, dims).node("Identity", {name}, {y}).output(y);
    return *this;
  }
};

/// The greatest of 500 numbers that a model reads from x by these nodes.
std::pair<std::int64_t, std::int64_t> range_of(const ModelBuilder& model) {
  const auto all = values<std::int64_t>(found(model), "x");
  const auto [least, most] = std::ranges::minmax(all);
  return {least, most};
}

using Pair = std::pair<std::int64_t, std::int64_t>;

ModelBuilder table_of(std::int64_t rows) {
  ModelBuilder model;
  model.input("x", DType::int64, {500})
      .initializer("table", *Tensor::make(DType::float32, {rows, 2}))
      .output("y");
  return model;
}

}  // namespace

TEST_CASE("FoundInputs_FixedFloats_AreTheNormalNumbersOfTheSeed") {
  ModelBuilder model;
  model.input("a", DType::float32, {"N", 2}).input("b", DType::float32, {"N", 2});
  model.node("Add", {"a", "b"}, {"c"}).output("c");
  const FoundInputs once = found(model), again = found(model), other = found(model, 43);
  CHECK(values<float>(once, "a") == values<float>(again, "a"));
  CHECK(values<float>(once, "a") != values<float>(other, "a"));
  // The same on every host: this value is part of what a seed means.
  CHECK(values<float>(once, "a")[0] == -0x1.c9cbf00000000p-1f);
  CHECK(once.chosen.text == "seed:42 (random), N=1 (found)");
}

TEST_CASE("FoundInputs_Integers_StayWithinTheTableThatTheyIndex") {
  CHECK(range_of(table_of(7).node("Gather", {"table", "x"}, {"y"})) == Pair{0, 6});
  CHECK(range_of(table_of(7).node("Gather", {"table", "x"}, {"y"}, {integer("axis", 1)})) == Pair{0, 1});
  CHECK(range_of(table_of(1).node("Gather", {"table", "x"}, {"y"})) == Pair{0, 0});
}

TEST_CASE("FoundInputs_Integers_AreFollowedToTheirTable") {
  CHECK(range_of(table_of(7)
                     .initializer("axes", tensor<std::int64_t>({1}, {0}))
                     .node("Cast", {"x"}, {"a"}, {integer("to", 6)})
                     .node("Unsqueeze", {"a", "axes"}, {"b"})
                     .node("Gather", {"table", "b"}, {"y"})) == Pair{0, 6});
  CHECK(range_of(table_of(9)
                     .initializer("two", tensor<std::int64_t>({}, {2}))
                     .node("Add", {"two", "x"}, {"a"})
                     .node("Gather", {"table", "a"}, {"y"})) == Pair{-2, 6});
  CHECK(range_of(table_of(9)
                     .initializer("two", tensor<std::int64_t>({}, {2}))
                     .node("Sub", {"x", "two"}, {"a"})
                     .node("Gather", {"table", "a"}, {"y"})) == Pair{2, 10});
}

TEST_CASE("FoundInputs_Integers_OfTwoReadersObeyBoth") {
  CHECK(range_of(table_of(9)
                     .initializer("small", *Tensor::make(DType::float32, {5, 2}))
                     .node("Gather", {"table", "x"}, {"y"})
                     .node("Gather", {"small", "x"}, {"z"})
                     .node("Gather", {"table", "x"}, {"y2"})
                     .output("z")
                     .output("y2")) == Pair{0, 4});
}

TEST_CASE("FoundInputs_Integers_OtherOperatorsLimitThem") {
  ModelBuilder one_hot;
  one_hot.input("x", DType::int64, {500})
      .initializer("depth", tensor<std::int64_t>({}, {6}))
      .initializer("off_on", tensor<float>({2}, {0, 1}))
      .node("OneHot", {"x", "depth", "off_on"}, {"y"})
      .output("y");
  CHECK(range_of(one_hot) == Pair{0, 5});
  ModelBuilder gather_nd;
  gather_nd.input("x", DType::int64, {250, 2})
      .initializer("table", *Tensor::make(DType::float32, {9, 4}))
      .node("GatherND", {"table", "x"}, {"y"})
      .output("y");
  CHECK(range_of(gather_nd) == Pair{0, 3});
  ModelBuilder divisor;
  divisor.input("x", DType::int64, {500})
      .initializer("a", tensor<std::int64_t>({}, {6}))
      .node("Div", {"a", "x"}, {"y"})
      .output("y");
  CHECK(range_of(divisor).first == 1);
}

TEST_CASE("FoundInputs_Integers_WithinABranchAreFollowed") {
  ModelBuilder body("branch");
  body.initializer("inner", *Tensor::make(DType::float32, {6, 2}))
      .node("Gather", {"inner", "x"}, {"z"})
      .output("z");
  ModelBuilder model;
  model.input("x", DType::int64, {500})
      .input("c", DType::boolean, {})
      .node("If", {"c"}, {"y"})
      .graph_attribute("then_branch", body.graph_message())
      .graph_attribute("else_branch", body.graph_message())
      .output("y");
  CHECK(range_of(model) == Pair{0, 5});
}

TEST_CASE("FoundInputs_Integers_WithoutLimitsAreSmall") {
  Plain plain;
  plain.input("x", DType::int64, {500}).input("pixels", DType::uint8, {1, 20, 20, 3});
  const FoundInputs inputs = found(plain.model);
  CHECK(std::ranges::max(values<std::int64_t>(inputs, "x")) == 3);
  CHECK(std::ranges::max(values<std::uint8_t>(inputs, "pixels")) > 200);
}

TEST_CASE("FoundInputs_Masks_AreOnesOfAnyType") {
  Plain plain;
  plain.input("attention_mask", DType::int64, {1, 3})
      .input("padding_mask", DType::boolean, {1, 3})
      .input("Mask", DType::float32, {1, 3})
      .input("masked_image", DType::float32, {1, 3});
  const FoundInputs inputs = found(plain.model);
  CHECK(values<std::int64_t>(inputs, "attention_mask") == std::vector<std::int64_t>{1, 1, 1});
  CHECK(values<std::uint8_t>(inputs, "padding_mask") == std::vector<std::uint8_t>{1, 1, 1});
  CHECK(values<float>(inputs, "Mask") == std::vector<float>{1, 1, 1});
  CHECK(values<float>(inputs, "masked_image") != std::vector<float>{1, 1, 1});
}

TEST_CASE("FoundInputs_States_AreZerosBesideOtherInputs") {
  Plain plain;
  plain.input("x", DType::float32, {1, 4})
      .input("h0", DType::float32, {1, 1, 2})
      .input("state", DType::float32, {1, 2})
      .input("past_key_values.0.key", DType::float32, {1, 1, 1, 2})
      .input("encoder_hidden_states", DType::float32, {1, 2});
  const FoundInputs inputs = found(plain.model);
  for (const char* name : {"h0", "state", "past_key_values.0.key"})
    CHECK(values<float>(inputs, name) == std::vector<float>{0, 0});
  CHECK(values<float>(inputs, "encoder_hidden_states") != std::vector<float>{0, 0});
  CHECK(inputs.chosen.text == "seed:42 (random), h0 and 2 more zeros");
  Plain game;
  game.input("state", DType::float32, {1, 2});
  CHECK(values<float>(found(game.model), "state") != std::vector<float>{0, 0});
}

TEST_CASE("FoundInputs_Positions_AscendBehindTheCache") {
  Plain plain;
  plain.input("position_ids", DType::int64, {2, 3});
  CHECK(values<std::int64_t>(found(plain.model), "position_ids") ==
        std::vector<std::int64_t>{0, 1, 2, 0, 1, 2});
  plain.input("past_key_values.0.key", DType::float32, {1, 2, 5, 2});
  CHECK(values<std::int64_t>(found(plain.model), "position_ids") ==
        std::vector<std::int64_t>{5, 6, 7, 5, 6, 7});
}

TEST_CASE("FoundInputs_Positions_StayWithinTheirTable") {
  ModelBuilder model;
  model.input("position_ids", DType::int64, {1, 5})
      .initializer("table", *Tensor::make(DType::float32, {3, 2}))
      .node("Gather", {"table", "position_ids"}, {"y"})
      .output("y");
  CHECK(values<std::int64_t>(found(model), "position_ids") == std::vector<std::int64_t>{0, 1, 2, 2, 2});
}

TEST_CASE("FoundInputs_Scalars_AreWhatTheirNamesSay") {
  Plain plain;
  plain.input("audio", DType::float32, {1, 900})
      .input("sr", DType::int64, {})
      .input("audio_length", DType::int64, {1})
      .input("token_type_ids", DType::int64, {1, 2})
      .input("scales", DType::float32, {3})
      .input("use_cache_branch", DType::boolean, {1})
      .input("training_mode", DType::boolean, {});
  const FoundInputs inputs = found(plain.model);
  CHECK(values<std::int64_t>(inputs, "sr") == std::vector<std::int64_t>{16000});
  CHECK(values<std::int64_t>(inputs, "audio_length") == std::vector<std::int64_t>{900});
  CHECK(values<std::int64_t>(inputs, "token_type_ids") == std::vector<std::int64_t>{0, 0});
  CHECK(values<float>(inputs, "scales") == std::vector<float>{1, 1, 1});
  CHECK(values<std::uint8_t>(inputs, "use_cache_branch") == std::vector<std::uint8_t>{1});
  CHECK(values<std::uint8_t>(inputs, "training_mode") == std::vector<std::uint8_t>{0});
}

TEST_CASE("FoundInputs_SizeOfAPicture_IsThatOfThePictureBeside") {
  Plain plain;
  plain.input("image", DType::float32, {1, 3, 64, 96})
      .input("im_shape", DType::float32, {1, 2})
      .input("scale_factor", DType::float32, {1, 2});
  const FoundInputs inputs = found(plain.model);
  CHECK(values<float>(inputs, "im_shape") == std::vector<float>{64, 96});
  CHECK(values<float>(inputs, "scale_factor") == std::vector<float>{1, 1});
}

TEST_CASE("FoundInputs_EveryNumericType_IsFilled") {
  for (const DType dtype :
       {DType::float64, DType::float16, DType::bfloat16, DType::boolean, DType::int8, DType::uint8,
        DType::int16, DType::uint16, DType::int32, DType::uint32, DType::int64, DType::uint64}) {
    Plain plain;
    plain.input("x", dtype, {64});
    const FoundInputs inputs = found(plain.model);
    CHECK(
        std::ranges::any_of(inputs.tensors[0].tensor.bytes(), [](std::byte b) { return b != std::byte{0}; }));
  }
}

TEST_CASE("FoundInputs_Choice_IsAFactOfTheTraceAndCanBeGivenAgain") {
  Plain plain;
  plain.input("ids", DType::int64, {"batch", ""}).input("mask", DType::int64, {"batch", "seq"});
  const FoundInputs inputs = found(plain.model);
  CHECK(inputs.chosen.text == "seed:42 (random), batch=1, seq=16, ids 1x16 (found), mask ones");
  CHECK(size_specs(inputs.chosen, inputs.tensors) ==
        std::vector<std::string>{"dim:batch=1", "shape:ids=1x16", "dim:seq=16"});
  Trace trace;
  add_chosen_inputs(trace, inputs.chosen);
  const auto read = run_fact<ChosenInputs>(trace, "inputs");
  REQUIRE(read);
  CHECK(read->text == inputs.chosen.text);
  CHECK(read->seed == "42");
  REQUIRE(read->sizes.size() == 3);
  CHECK(read->sizes[2].size == 16);
  REQUIRE(read->values.size() == 1);
  CHECK(read->values[0].are == "ones");
}

TEST_CASE("NamePatterns_Stars_AreAnything") {
  CHECK(matches_any("a *mask* b*c", "attention_mask_2"));
  CHECK(matches_any("a *mask* b*c", "bxyzc"));
  CHECK(matches_any("*ab", "aab"));
  CHECK_FALSE(matches_any("a *mask* b*c", "bc_"));
  CHECK_FALSE(matches_any("", "a"));
}

}  // namespace driftscope::test::found_inputs_test
