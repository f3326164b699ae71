// com.microsoft MoE and QMoE, in closed form and beside a plain computation of random ones. Random attributes
// against ONNX Runtime itself: tests/python/frameworks/test_contrib_operators.py.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/rng.hpp"
#include "unit/ops/one_node.hpp"

namespace driftscope::test::moe_test {
namespace {

using Numbers = std::vector<double>;

OneNode experts(const std::string& op, Given inputs, std::vector<Attribute> attributes = {}) {
  return {op, std::move(inputs), std::move(attributes), 21, 1, "com.microsoft"};
}

Tensor u8(Shape shape, const std::vector<std::uint8_t>& values) {
  return tensor<std::uint8_t>(std::move(shape), values);
}

/// Expert e multiplies its input by e + 1; three of them, of size 2.
OneNode multiples(const std::vector<float>& logits, std::vector<Attribute> attributes) {
  const auto tokens = static_cast<std::int64_t>(logits.size() / 3);
  std::vector<float> x;
  for (std::int64_t t = 0; t < tokens; ++t) x.insert(x.end(), {1.0F, -2.0F});
  attributes.push_back(text("activation_type", "identity"));
  return experts("MoE",
                 {floats({tokens, 2}, x), floats({tokens, 3}, logits),
                  floats({3, 2, 2}, {1, 0, 0, 1, 2, 0, 0, 2, 3, 0, 0, 3}), std::nullopt,
                  floats({3, 2, 2}, {1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1})},
                 std::move(attributes));
}

/// One expert of size 1 that does nothing but its function, to each of the numbers.
OneNode function_of(const std::vector<float>& x, std::vector<Attribute> attributes) {
  const auto tokens = static_cast<std::int64_t>(x.size());
  return experts("MoE",
                 {floats({tokens, 1}, x), floats({tokens, 1}, std::vector<float>(x.size(), 0.0F)),
                  floats({1, 1, 1}, {1}), std::nullopt, floats({1, 1, 1}, {1})},
                 std::move(attributes));
}

/// With g = x and l = 2 · x + 1 in the rows of fc1 that `fusion` says, twice: the second pair is −g and 3.
OneNode gate_of(const std::vector<float>& x, std::int64_t fusion, std::vector<Attribute> attributes) {
  OneNode node = function_of(x, std::move(attributes));
  node.attributes.push_back(integer("swiglu_fusion", fusion));
  const bool in_turn = fusion == 1;
  node.inputs[2] =
      floats({1, 4, 1}, in_turn ? std::vector<float>{1, 2, -1, 0} : std::vector<float>{1, -1, 2, 0});
  node.inputs[3] = floats({1, 4}, in_turn ? std::vector<float>{0, 1, 0, 3} : std::vector<float>{0, 0, 1, 3});
  node.inputs[4] = floats({1, 1, 2}, {1, 10});
  return node;
}

double sigma(double x) { return 1 / (1 + std::exp(-x)); }
double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

/// Two experts of 4 bits, hidden size 2, inner size 2; weights of expert 0 are 1 and 2 on the diagonal.
OneNode packed(std::vector<Attribute> attributes, Given more = {}) {
  attributes.push_back(text("activation_type", "identity"));
  Given inputs = {
      floats({1, 2}, {1, 10}),        floats({1, 2}, {0, 0}), u8({2, 2, 1}, {0x89, 0xA8, 0x8B, 0xB8}),
      floats({2, 2}, {1, 1, 1, 1}),   std::nullopt,           u8({2, 2, 1}, {0x89, 0x98, 0x89, 0x98}),
      floats({2, 2}, {1, 1, 0.5F, 1})};
  inputs.insert(inputs.end(), more.begin(), more.end());
  return experts("QMoE", std::move(inputs), std::move(attributes));
}

}  // namespace

TEST_CASE("MoE_Weights_AreTheSoftmaxOfAllExperts") {
  const std::vector<float> logits = {0.0F, std::log(2.0F), std::log(5.0F)};  // 1/8, 2/8, 5/8
  close(multiples(logits, {}), {3 * 0.625, -6 * 0.625});
  close(multiples(logits, {integer("k", 2)}), {2.375, -4.75});
  close(multiples(logits, {integer("k", 2), integer("normalize_routing_weights", 1)}), {19.0 / 7, -38.0 / 7});
  close(multiples(logits, {integer("k", 3)}), {2.5, -5});
}

TEST_CASE("MoE_EqualLogits_ChooseTheHigherNumber") {
  const std::vector<Attribute> normalized = {integer("normalize_routing_weights", 1)};
  close(multiples({1, 1, 1, 2, 2, 0, 2, 0, 2}, normalized), {3, -6, 2, -4, 3, -6});
}

TEST_CASE("MoE_ManyTokens_AreEachRoutedAlone") {
  std::vector<float> logits;
  std::vector<float> x;
  Numbers want;
  for (int t = 0; t < 300; ++t) {  // more for an expert than are multiplied at once
    for (int e = 0; e < 3; ++e) logits.push_back(e == t % 3 ? 100.0F : 0.0F);
    x.insert(x.end(), {static_cast<float>(t), -1.0F});
    want.insert(want.end(), {(t % 3 + 1.0) * t, -(t % 3 + 1.0)});
  }
  OneNode node = multiples(logits, {});
  node.inputs[0] = floats({300, 2}, x);
  close(node, want);
}

TEST_CASE("MoE_Functions_AreThoseOfTheirNames") {
  const std::vector<float> x = {-3, -0.5F, 0, 0.25F, 2};
  const auto check = [&](const std::string& name, double (*f)(double)) {
    CAPTURE(name);
    Numbers want;
    for (const float value : x) want.push_back(f(static_cast<double>(value)));
    close(function_of(x, {text("activation_type", name)}), want);
  };
  check("relu", [](double t) { return std::fmax(t, 0.0); });
  check("relu2", [](double t) { return std::fmax(t, 0.0) * std::fmax(t, 0.0); });
  check("identity", [](double t) { return t; });
  check("silu", [](double t) { return t * sigma(t); });
  check("gelu", gelu);
}

TEST_CASE("MoE_Gates_TakeTheirRowsInTurnOrAsHalves") {
  const std::vector<float> x = {-3, 0.25F, 2};
  for (const std::int64_t fusion : {1, 2}) {
    CAPTURE(fusion);
    Numbers swiglu;
    Numbers limited;
    Numbers after;
    Numbers geglu;
    for (const float value : x) {
      const auto t = static_cast<double>(value);
      const auto clamped = [](double l) { return std::clamp(l, -1.5, 1.5) + 0.5; };
      const auto swish = [](double g) { return g * sigma(2 * g); };
      swiglu.push_back(t * sigma(t) * (2 * t + 1) + 10 * -t * sigma(-t) * 3);
      limited.push_back(swish(std::fmin(t, 1.5)) * clamped(2 * t + 1) +
                        10 * swish(std::fmin(-t, 1.5)) * clamped(3));
      after.push_back(std::fmin(swish(t), 1.5) * clamped(2 * t + 1) +
                      10 * std::fmin(swish(-t), 1.5) * clamped(3));
      geglu.push_back(gelu(t) * (2 * t + 1) + 10 * gelu(-t) * 3);
    }
    close(gate_of(x, fusion, {text("activation_type", "swiglu")}), swiglu);
    std::vector<Attribute> limits = {text("activation_type", "swiglu"), real("activation_alpha", 2.0F),
                                     real("activation_beta", 0.5F), real("swiglu_limit", 1.5F)};
    close(gate_of(x, fusion, limits), limited);
    limits.push_back(integer("swiglu_limit_after_activation", 1));
    close(gate_of(x, fusion, limits), after);
    close(gate_of(x, fusion, {text("activation_type", "geglu")}), geglu);
  }
}

TEST_CASE("MoE_ThirdMatrix_IsTheLinearPartOfTheGate") {
  for (const std::string name : {"silu", "swiglu"}) {
    CAPTURE(name);
    OneNode node = function_of({-3, 2}, {text("activation_type", name)});
    node.inputs.insert(node.inputs.end(),
                       {floats({1, 1}, {0.5F}), floats({1, 1, 1}, {4}), floats({1, 1}, {1})});
    close(node, {-3 * sigma(-3) * -11 + 0.5, 2 * sigma(2) * 9 + 0.5});
    node.attributes[0] = text("activation_type", "relu");
    CHECK(contains(node.error().message, "input 6 (fc3_experts_weights): known here with silu"));
  }
  CHECK(contains(function_of({1}, {text("activation_type", "swiglu")}).error().message,
                 "input 6 (fc3_experts_weights): it is required but omitted"));
}

TEST_CASE("MoE_RandomOnes_AreWhatAPlainComputationGives") {
  const std::uint64_t seed = 20261127;
  INFO("seed " << seed);
  Rng random(seed);
  const auto numbers = [&](Shape shape) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    std::ranges::generate(values, [&] { return random.uniform(-1, 1); });
    return floats(std::move(shape), values);
  };
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    const auto size = [&](std::uint64_t most) { return 1 + static_cast<std::int64_t>(random.below(most)); };
    const std::int64_t tokens = size(9), hidden = size(70), inner = size(70), count = size(6);
    const std::int64_t k = std::min(count, size(3));
    const OneNode node =
        experts("MoE",
                {numbers({tokens, hidden}), numbers({tokens, count}), numbers({count, inner, hidden}),
                 numbers({count, inner}), numbers({count, hidden, inner}), numbers({count, hidden})},
                {integer("k", k)});
    const auto at = [&](std::size_t i, std::int64_t index) {
      return static_cast<double>(node.inputs[i]->values<float>()[static_cast<std::size_t>(index)]);
    };
    Numbers want;
    for (std::int64_t t = 0; t < tokens; ++t) {
      std::vector<std::int64_t> order(static_cast<std::size_t>(count));
      std::iota(order.begin(), order.end(), 0);
      std::ranges::sort(order, [&](auto a, auto b) { return at(1, t * count + a) > at(1, t * count + b); });
      double sum = 0;
      for (std::int64_t e = 0; e < count; ++e) sum += std::exp(at(1, t * count + e));
      Numbers y(static_cast<std::size_t>(hidden), 0.0);
      for (std::int64_t place = 0; place < k; ++place) {
        const std::int64_t e = order[static_cast<std::size_t>(place)];
        Numbers middle;
        for (std::int64_t i = 0; i < inner; ++i) {
          double h = at(3, e * inner + i);
          for (std::int64_t j = 0; j < hidden; ++j)
            h += at(0, t * hidden + j) * at(2, (e * inner + i) * hidden + j);
          middle.push_back(std::fmax(h, 0));
        }
        for (std::int64_t j = 0; j < hidden; ++j) {
          double out = at(5, e * hidden + j);
          for (std::int64_t i = 0; i < inner; ++i)
            out += middle[static_cast<std::size_t>(i)] * at(4, (e * hidden + j) * inner + i);
          y[static_cast<std::size_t>(j)] += std::exp(at(1, t * count + e)) / sum * out;
        }
      }
      want.insert(want.end(), y.begin(), y.end());
    }
    const Numbers got = node.strict_numbers();
    const std::vector<Bounded> bounds = node.bounded();
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      CHECK(std::fabs(bounds[i].value - want[i]) <= 1e-12 * (100 + std::fabs(want[i])));
      CHECK(std::fabs(got[i] - want[i]) <= bounds[i].likely);
      CHECK(bounds[i].likely < 1e-3);
    }
  }
}

TEST_CASE("MoE_LogitsWithErrors_ThatLeaveTheChoiceOpen_AllowAnything") {
  for (const bool near : {false, true}) {
    ModelBuilder builder;
    builder.opset(21);
    builder.opset("com.microsoft", 1);
    builder.input("x", DType::float32, {1, 1});
    builder.input("scores", DType::float32, {1, 2});
    builder.input("w", DType::float32, {2, 1, 1});
    builder.node("Exp", {"scores"}, {"logits"});
    builder.node("MoE", {"x", "logits", "w", "", "w"}, {"y"}, {}, "com.microsoft");
    builder.output("y");
    const Graph graph = built(builder);
    ThreadPool threads(1);
    const std::vector<NamedTensor> given = {{"x", floats({1, 1}, {1})},
                                            {"scores", floats({1, 2}, {1.0F, near ? 1.0000001F : 1.5F})},
                                            {"w", floats({2, 1, 1}, {1, 2})}};
    const auto values = run_graph<Bounded>(graph, given, threads);
    REQUIRE(values.ok());
    CHECK(std::isinf((*values)[graph.outputs[0]].real[0].worst) == near);
  }
}

TEST_CASE("MoE_WrongInputs_AreNamed") {
  const auto says = [](const OneNode& node, const std::string& text) {
    const std::string message = node.error().message;
    INFO(message);
    CHECK(contains(message, text));
  };
  says(multiples({0, 0, 0}, {integer("k", 4)}), "attribute k: expected at most the 3 experts of input 1");
  says(multiples({0, 0, 0}, {integer("k", 0)}), "attribute k: expected at least 1, got 0");
  says(multiples({0, 0, 0}, {integer("use_sparse_mixer", 1)}), "MoE with use_sparse_mixer");
  says(function_of({1}, {text("activation_type", "tanh")}), "attribute activation_type: expected relu, gelu");
  says(gate_of({1}, 3, {text("activation_type", "swiglu")}), "attribute swiglu_fusion: expected 0 to 2");
  says(gate_of({1}, 0, {text("activation_type", "geglu")}), "attribute swiglu_fusion: expected 1 to 2");
  says(gate_of({1}, 1, {text("activation_type", "swiglu"), real("swiglu_limit", -1.0F)}),
       "attribute swiglu_limit: expected at least 0, got -1");
  OneNode node = multiples({0, 0, 0}, {});
  node.inputs[2] = floats({3, 2, 1}, {1, 1, 1, 1, 1, 1});
  says(node, "input 2 (fc1_experts_weights): expected shape 3x2x2, got 3x2x1");
  node = multiples({0, 0, 0}, {});
  node.inputs[3] = floats({2}, {1, 1});
  says(node, "input 3 (fc1_experts_bias): expected shape 3x2, got 2");
  node = multiples({0, 0, 0}, {});
  node.inputs[1] = floats({2, 3}, {0, 0, 0, 0, 0, 0});
  says(node, "input 1 (router_probs): expected shape 1x");
  node = multiples({0, 0, 0}, {});
  node.inputs[2] = floats({3, 2, 1}, {1, 1, 1, 1, 1, 1});  // the older order, of inner size 1
  node.inputs[4] = floats({3, 1, 2}, {1, 1, 1, 1, 1, 1});
  says(node, "input 4 (fc2_experts_weights): expected 2 as its size 1");
  says(node, "transpose them");
  node = multiples({0, 0, 0}, {});
  node.inputs[4] = std::nullopt;
  node.inputs.push_back(floats({3, 2}, {0, 0, 0, 0, 0, 0}));
  says(node, "input 4 (fc2_experts_weights): it is required but omitted");
  node = multiples({0, 0, 0}, {});
  node.inputs[0] = floats({2}, {1, 2});
  says(node, "input 0 (input)");
  node = multiples({0, 0, 0}, {});
  node.inputs[1] = u8({1, 3}, {0, 0, 0});
  says(node, "input 1 (router_probs)");
}

TEST_CASE("QMoE_Weights_AreTheSoftmaxOfTheChosen") {
  // Of expert 0: fc1 diag(1, 2), fc2 diag(1, 1); of expert 1: diag(3, 3) and diag(0.5, 1).
  OneNode node = packed({integer("k", 2)});
  close(node, {1.25, 25});
  node.attributes[0] = integer("k", 1);  // the higher number
  close(node, {1.5, 30});
  node.inputs[1] = floats({1, 2}, {std::log(3.0F), 0});
  close(node, {1, 20});
  node.attributes[0] = integer("k", 2);
  close(node, {1.125, 22.5});
}

TEST_CASE("QMoE_RouterWeights_MixWhatTheLogitsChoose") {
  const auto with = [](const std::vector<float>& mixing, std::int64_t normalize) {
    OneNode node = packed({integer("k", 2), integer("normalize_routing_weights", normalize)});
    node.inputs.resize(14);
    node.inputs.push_back(floats({1, 2}, mixing));
    return node;
  };
  close(with({2, 4}, 0), {8, 160});
  close(with({2, 4}, 1), {8.0 / 6, 160.0 / 6});
  close(with({2, -4}, 0), {2, 40});  // left out
  close(with({0, 0}, 1), {0, 0});
  OneNode node = with({2, 4}, 0);
  node.inputs[14] = floats({2}, {2, 4});
  CHECK(contains(node.error().message, "input 14 (router_weights): expected shape 1x2, got 2"));
}

TEST_CASE("QMoE_ZeroPoints_AreByRowOrByBlock") {
  OneNode node = packed({integer("k", 1)});
  node.inputs[1] = floats({1, 2}, {1, 0});
  node.inputs.resize(13);
  node.inputs[11] = u8({2, 1}, {0x78, 0x88});  // row 1 of fc1: 7, so that its weights are 1 and 3
  close(node, {1, 31});
  node.inputs[12] = u8({2, 2}, {0, 0, 0, 0});
  CHECK(contains(node.error().message, "input 12 (fc2_zero_points): expected shape 2x1, got 2x2"));

  // Two blocks of 16 along the hidden size, of which the second has another scale and zero point.
  std::vector<std::uint8_t> first(16, 0x99);
  std::vector<std::uint8_t> second(32 * 8, 0x88);
  second[0] = 0x89;
  std::vector<float> x(32, 1.0F);
  OneNode blocks =
      experts("QMoE",
              {floats({1, 32}, x), floats({1, 1}, {0}), u8({1, 16, 16}, std::vector<std::uint8_t>(256, 0x99)),
               floats({1, 16, 2}, std::vector<float>(32, 0.5F)), std::nullopt, u8({1, 32, 8}, second),
               floats({1, 32, 1}, std::vector<float>(32, 1.0F)), std::nullopt, std::nullopt, std::nullopt,
               std::nullopt, u8({1, 16, 1}, std::vector<std::uint8_t>(16, 0x58))},
              {text("activation_type", "identity"), integer("block_size", 16)});
  Numbers want(32, 0.0);
  want[0] = 16 * 0.5 * 1 + 16 * 0.5 * 4;
  close(blocks, want);
  blocks.attributes[1] = integer("block_size", 24);
  CHECK(contains(blocks.error().message, "attribute block_size: expected a power of 2"));
  blocks.attributes[1] = integer("block_size", 32);
  CHECK(contains(blocks.error().message, "input 3 (fc1_scales): expected shape 1x16x1, got 1x16x2"));
}

TEST_CASE("QMoE_TwoAndEightBits_AreUnpacked") {
  OneNode node = packed({integer("expert_weight_bits", 8)});
  node.inputs[0] = floats({1, 2}, {1, 10});
  node.inputs[1] = floats({1, 2}, {1, 0});
  node.inputs[2] = u8({2, 2, 2}, {129, 128, 128, 228, 0, 0, 0, 0});
  node.inputs[5] = u8({2, 2, 2}, {129, 128, 128, 129, 0, 0, 0, 0});
  close(node, {1, 1000});
  // fc1 of 2 bits, fc2 of 8: hidden size 4.
  OneNode mixed = experts(
      "QMoE",
      {floats({1, 4}, {1, 10, 100, 1000}), floats({1, 1}, {0}), u8({1, 1, 1}, {0xE4}), floats({1, 1}, {0.5F}),
       std::nullopt, u8({1, 4, 1}, {129, 128, 127, 255}), floats({1, 4}, {1, 1, 1, 1})},
      {text("activation_type", "identity"), integer("expert_weight_bits", 8),
       integer("fc1_expert_weight_bits", 2)});
  const double h = 0.5 * (-2 * 1 - 1 * 10 + 0 * 100 + 1 * 1000);
  close(mixed, {h, 0, -h, 127 * h});
  mixed.attributes[2] = integer("fc1_expert_weight_bits", 3);
  CHECK(contains(mixed.error().message, "QMoE of 3 bits: only 2, 4 and 8 are known here"));
}

TEST_CASE("QMoE_WrongInputs_AreNamed") {
  const auto says = [](const OneNode& node, const std::string& text) {
    const std::string message = node.error().message;
    INFO(message);
    CHECK(contains(message, text));
  };
  says(packed({text("quant_type", "fp8")}), "QMoE of quant_type fp8");
  says(packed({integer("weights_prepacked", 1)}), "weights_prepacked 1");
  OneNode node = packed({});
  node.inputs[3] = std::nullopt;
  says(node, "input 3 (fc1_scales): it is required but omitted");
  node = packed({});
  node.inputs[2] = u8({2, 2, 2}, {0, 0, 0, 0, 0, 0, 0, 0});
  says(node, "input 2 (fc1_experts_weights): expected shape 2x2x1, got 2x2x2");
  node = packed({});
  node.inputs[2] = floats({2, 2, 1}, {0, 0, 0, 0});
  says(node, "input 2 (fc1_experts_weights): expected uint8, got float32");
  node = packed({}, {std::nullopt, std::nullopt, std::nullopt, floats({2, 2}, {0, 0, 0, 0})});
  says(node, "input 10 (fc3_experts_bias): given without weights");
  node = packed({});
  node.inputs.resize(15);
  node.inputs.push_back(floats({2}, {1, 1}));
  says(node, "QMoE with input 15");
  node = packed({});
  node.inputs[0] = floats({1, 3}, {1, 1, 1});
  says(node, "input 5 (fc2_experts_weights): expected 3 as its size 1");
}

}  // namespace driftscope::test::moe_test
