#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/half.hpp"
#include "core/convert_check/check_view.hpp"
#include "tests/unit/convert_check/small_conversion.hpp"

namespace driftscope::test {
namespace {

using convert::Cause;
using convert::Check;

std::string parting(const Check& check) {
  return check.first_parting ? check.layers[*check.first_parting].values.a : "none";
}

/// The reasons of the first layer that diverges.
std::vector<convert::Explanation> why(const Check& check) {
  std::vector<convert::Explanation> found;
  for (const convert::Explanation& one : check.explanations)
    if (check.first_parting && one.layer == *check.first_parting) found.push_back(one);
  return found;
}

/// Exactly one reason, tested, whose text contains this.
void expect_reason(const Check& check, const std::string& layer, Cause cause, const std::string& part) {
  CHECK(parting(check) == layer);
  const auto reasons = why(check);
  REQUIRE(reasons.size() == 1);
  CHECK_MESSAGE(reasons[0].cause == cause, convert::cause_name(reasons[0].cause) << ": " << reasons[0].text);
  CHECK_MESSAGE(reasons[0].text.find(part) != std::string::npos, reasons[0].text);
  CHECK(reasons[0].confirmed == true);
}

}  // namespace

TEST_CASE("ConvertCheck_SameModel_IsIdenticalInEveryLayer") {
  const Check check = checked(small_network(), small_network());
  CHECK(check.verdict == Verdict::identical);
  CHECK(check.layers.size() == 7);
  CHECK(check.explanations.empty());
  for (const auto& layer : check.layers) CHECK(layer.drift.different_elements == 0);
}

TEST_CASE("ConvertCheck_OtherNames_ArePairedByStructureAndValues") {
  const Check check = checked(small_network(), small_network({.prefix = "Q/"}));
  CHECK(check.verdict == Verdict::identical);
  REQUIRE(check.layers.size() == 7);
  for (std::size_t i = 1; i < 7; ++i) CHECK(check.layers[i].values.b == "Q/" + check.layers[i].values.a);
  CHECK(check.alignment.only_a.empty());
  CHECK(check.alignment.only_b.empty());
}

TEST_CASE("ConvertCheck_FoldedNormalization_IsRoundingUnderEitherName") {
  for (const char* prefix : {"", "Q/"}) {
    const Check check = checked(small_network(), small_network({.prefix = prefix, .folded = true}));
    CHECK(check.verdict == Verdict::rounding);
    CHECK_FALSE(check.first_parting.has_value());
    CHECK(check.alignment.only_a == std::vector<std::string>{"conv"});
    // The folded convolution keeps its name and makes what the normalization made.
    CHECK(check.layers[1].values.a == "bn");
    CHECK(check.layers[1].values.b == std::string(prefix) + "conv");
  }
}

TEST_CASE("ConvertCheck_FoldedWithAnotherEpsilon_SaysWhich") {
  const Check check =
      checked(small_network(), small_network({.prefix = "Q/", .folded = true, .epsilon = 1e-5f}));
  expect_reason(check, "bn", Cause::folded_epsilon, "expected 0.001, the weights say 1e-05");
}

// Far from the normalization's values: the weights alone say that it was folded.
TEST_CASE("ConvertCheck_FoldedWithAWrongBias_NamesTheBiasAlone") {
  for (const char* prefix : {"", "Q/"}) {
    const Check check =
        checked(small_network(), small_network({.prefix = prefix, .folded = true, .bias_off = 5.0f}));
    expect_reason(check, "bn", Cause::folded_wrong,
                  "the bias '" + std::string(prefix) + "b' is not β + γ(b − μ)/√(σ² + ε)");
    CHECK(check.explanations.size() == 1);
  }
}

TEST_CASE("ConvertCheck_TwoCausesOfOneLayer_AreConfirmedTogetherAndNeitherAlone") {
  Tensor dense = random_floats({8, 5}, 99);
  const Check check =
      checked(small_network(), small_network({.prefix = "Q/", .dense = dense, .alpha = 2.0f}));
  CHECK(parting(check) == "y");
  const auto reasons = why(check);
  REQUIRE(reasons.size() == 2);
  for (const auto& one : reasons) {
    CHECK(one.confirmed == false);
    CHECK(one.together);
  }
}

TEST_CASE("ConvertCheck_ChangedWeight_NamesTheElementAndBothValues") {
  Tensor weights = tensor<float>({8, 3, 3, 3}, std::vector<float>(216));
  std::ranges::copy(conv_weights().values<float>(), weights.mutable_values<float>().begin());
  weights.mutable_values<float>()[27 * 5 + 13] = 0.5f;
  const Check check = checked(small_network(), small_network({.weights = weights}));
  expect_reason(check, "conv", Cause::weights, "1 of 216 elements differ, most at [5, 1, 1, 1]: expected ");
  CHECK(why(check)[0].text.find("got 0.5") != std::string::npos);
  // After it B does what A does: the error is charged to one layer only.
  CHECK(std::ranges::count_if(check.layers, [](const auto& layer) {
          return layer.judged && layer.judged->verdict == Verdict::fault;
        }) == 1);
}

TEST_CASE("ConvertCheck_Float16Weights_AreACast") {
  Tensor weights = tensor<float>({8, 3, 3, 3}, std::vector<float>(216));
  std::ranges::transform(
      conv_weights().values<float>(), weights.mutable_values<float>().begin(), [](float x) {
        return static_cast<float>(widen(float16_format, narrow(float16_format, static_cast<double>(x))));
      });
  const Check check = checked(small_network(), small_network({.weights = weights}));
  expect_reason(check, "conv", Cause::float16, "rounded to float16");
}

TEST_CASE("ConvertCheck_QuantizedWeights_SayTheirStep") {
  Tensor weights = tensor<float>({8, 3, 3, 3}, std::vector<float>(216));
  std::ranges::transform(conv_weights().values<float>(), weights.mutable_values<float>().begin(),
                         [](float x) { return 0.03125f * std::round(x / 0.03125f); });
  const Check check = checked(small_network(), small_network({.weights = weights}));
  expect_reason(check, "conv", Cause::quantized, "multiples of 0.03125");
}

TEST_CASE("ConvertCheck_TransposedWindow_IsALayout") {
  auto weights = convert::permuted(conv_weights(), {0, 1, 3, 2});
  REQUIRE(weights.ok());
  const Check check = checked(small_network(), small_network({.weights = *weights}));
  expect_reason(check, "conv", Cause::layout, "in the order [0, 1, 3, 2]");
}

TEST_CASE("ConvertCheck_OtherPadding_SaysBoth") {
  const Check check = checked(small_network(), small_network({.pads = {0, 0, 2, 2}}));
  expect_reason(check, "conv", Cause::padding, "expected [1, 1, 1, 1], got [0, 0, 2, 2]");
}

TEST_CASE("ConvertCheck_DroppedActivation_IsNamed") {
  for (const char* prefix : {"", "Q/"}) {
    const Check check = checked(small_network(), small_network({.prefix = prefix, .relu = false}));
    expect_reason(check, "pool", Cause::operator_missing, "'Relu' (Relu)");
  }
}

TEST_CASE("ConvertCheck_OtherAttribute_IsNamedWithItsDefault") {
  const Check check = checked(small_network(), small_network({.alpha = 0.5f}));
  expect_reason(check, "y", Cause::attribute, "alpha of 'Gemm' (Gemm): expected 1, got 0.5");
}

TEST_CASE("ConvertCheck_OrdersToTryInstead_AreThoseOfRuntimes") {
  const auto orders = [](const Shape& shape) {
    ModelBuilder model;
    std::vector<Dim> dims;
    for (const std::int64_t size : shape) dims.emplace_back(size);
    model.input("x", DType::float32, dims).node("Relu", {"x"}, {"y"}).output("y");
    const Graph graph = inferred(model);
    const NamedInputs inputs = {{"x", *Tensor::make(DType::float32, shape)}};
    const auto matched = convert::match_inputs(inputs, graph, {});
    REQUIRE(matched.ok());
    return convert::other_orders(inputs, graph, {}, *matched, 100).size();
  };
  CHECK_MESSAGE(orders({4, 4}) == 0, "a transposition that is missing would not be found");
  CHECK(orders({3, 3, 3, 3}) == 6);
  CHECK(orders({2, 3, 3, 2}) < 3);
}

TEST_CASE("ConvertCheck_DefaultOfAnAttribute_IsTheOperatorsOwn") {
  const auto model = [](const char* op, std::optional<float> alpha) {
    ModelBuilder builder;
    const std::vector<Attribute> attributes =
        alpha ? std::vector<Attribute>{real("alpha", *alpha)} : std::vector<Attribute>();
    builder.input("x", DType::float32, {2, 3}).node(op, {"x"}, {"y"}, attributes).output("y");
    return builder;
  };
  CHECK(checked(model("LeakyRelu", std::nullopt), model("LeakyRelu", 0.01f)).explanations.empty());
  const Check leaky = checked(model("LeakyRelu", 1.0f), model("LeakyRelu", std::nullopt));
  expect_reason(leaky, "y", Cause::attribute, "alpha of 'LeakyRelu_0' (LeakyRelu): expected 1, got 0.01");
  const Check hard = checked(model("HardSigmoid", std::nullopt), model("HardSigmoid", 1.0f));
  expect_reason(hard, "y", Cause::attribute, "expected 0.2");
}

TEST_CASE("ConvertCheck_QuotientAsProduct_IsRounding") {
  const auto model = [](const char* op, float factor) {
    ModelBuilder builder;
    builder.input("x", DType::float32, {1, 64}).initializer("c", tensor<float>({}, {factor}));
    builder.node(op, {"x", "c"}, {"y"}).node("Tanh", {"y"}, {"z"});
    return builder.output("z", DType::float32, {1, 64});
  };
  const Check check = checked(model("Div", 2.8284271f), model("Mul", 1.0f / 2.8284271f));
  CHECK(check.verdict == Verdict::rounding);
  // A factor that is not the reciprocal is not rounding.
  const Check wrong = checked(model("Div", 2.8284271f), model("Mul", 1.0f / 2.8285f));
  CHECK(parting(wrong) == "y");
}

TEST_CASE("ConvertCheck_ChannelsLast_IsPairedWithTheirOrder") {
  ModelBuilder a;
  a.input("x", DType::float32, {1, 3, 4, 5}).node("Relu", {"x"}, {"r"}).node("Tanh", {"r"}, {"y"});
  a.output("y", DType::float32, {1, 3, 4, 5});
  ModelBuilder b;
  b.input("in", DType::float32, {1, 4, 5, 3}).node("Relu", {"in"}, {"s"}).node("Tanh", {"s"}, {"z"});
  b.output("z", DType::float32, {1, 4, 5, 3});
  const Check check = checked(a, b);
  CHECK(check.verdict == Verdict::identical);
  REQUIRE(check.layers.size() == 3);
  for (const auto& layer : check.layers) CHECK(layer.values.order == convert::Order{0, 2, 3, 1});
}

TEST_CASE("ConvertCheck_Map_IsTakenReadAndWritten") {
  const Check found = checked(small_network(), small_network({.prefix = "Q/"}));
  const auto map = convert::read_value_map(convert::value_map_json(found.alignment));
  REQUIRE_MESSAGE(map.ok(), map.error().message);
  CHECK(map->pairs.size() == 7);
  // Without the pair of the normalization both layers before Relu are judged together.
  convert::ValueMap shorter = *map;
  std::erase_if(shorter.pairs, [](const auto& pair) { return pair.a == "bn"; });
  shorter.pairs.push_back({"bn", "", {}, convert::FoundBy::given});
  const Check check = checked(small_network(), small_network({.prefix = "Q/"}), shorter);
  CHECK(check.alignment.only_a == std::vector<std::string>{"bn"});
  CHECK(check.layers[2].values.a == "relu");
  CHECK(check.layers[2].judged->group == std::vector<std::string>{"BN"});
}

TEST_CASE("ConvertCheck_BadMap_SaysWhatIsWrong") {
  const auto message = [](std::string_view text) {
    const auto map = convert::read_value_map(text);
    REQUIRE_FALSE(map.ok());
    return map.error().message;
  };
  CHECK(message("{").find("not JSON") != std::string::npos);
  CHECK(message("{\"values\":[]}").find("driftscope-map-1") != std::string::npos);
  CHECK(message(R"({"format":"driftscope-map-1","values":[{}]})").find("values[0]") != std::string::npos);
  CHECK(
      message(R"({"format":"driftscope-map-1","values":[{"a":"x","b":"y","order":[0,0]}]})").find("order") !=
      std::string::npos);
  CHECK(message(R"({"format":"driftscope-map-1","values":[{"a":1,"b":"y"}]})").find("values[0].a") !=
        std::string::npos);
}

TEST_CASE("ConvertCheck_TraceAsOriginal_IsJudgedByTheModel") {
  const RunModel original = run_model(inferred(small_network()));
  const RunModel converted = run_model(inferred(small_network({.prefix = "Q/", .alpha = 0.5f})));
  ThreadPool threads(1);
  convert::ValueMap map;
  map.pairs.push_back({"x", "x", {}, convert::FoundBy::name});
  const auto check =
      convert::check_conversion(convert::Side(nullptr, original.trace),
                                convert::Side(converted.graph.get(), converted.trace), map, threads);
  REQUIRE_MESSAGE(check.ok(), check.error().message);
  CHECK(check->judged_by == "B");
  CHECK(parting(*check) == "y");
}

}  // namespace driftscope::test
