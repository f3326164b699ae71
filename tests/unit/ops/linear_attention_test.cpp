// LinearAttention and CausalConvWithState against closed forms of their recurrences.
#include <doctest/doctest.h>

#include <cmath>

#include "core/base/rng.hpp"
#include "unit/ops/one_node.hpp"

namespace driftscope::test::linear_attention_test {
namespace {

struct Numbers {
  Shape shape;
  std::vector<float> values;
  [[nodiscard]] Tensor tensor() const { return floats(shape, values); }
  [[nodiscard]] double at(std::int64_t b, std::int64_t t, std::int64_t i) const {
    return values[static_cast<std::size_t>((b * shape[1] + t) * shape[2] + i)];
  }
};

Numbers drawn(Rng& rng, Shape shape, float low, float high) {
  Numbers numbers{std::move(shape), {}};
  for (std::int64_t i = 0; i < element_count(numbers.shape); ++i)
    numbers.values.push_back(low + (high - low) * static_cast<float>(rng.uniform()));
  return numbers;
}

constexpr std::int64_t batch = 2, steps = 5, heads = 2, queries = 4, keys = 3, values = 2;

struct Case {
  Numbers q, k, v, past, decay, beta;
  explicit Case(Rng& rng)
      : q(drawn(rng, {batch, steps, queries * keys}, -1, 1)),
        k(drawn(rng, {batch, steps, heads * keys}, -1, 1)),
        v(drawn(rng, {batch, steps, heads * values}, -1, 1)),
        past(drawn(rng, {batch, heads, keys, values}, -1, 1)),
        decay(drawn(rng, {batch, steps, heads}, -1, 0)),
        beta(drawn(rng, {batch, steps, heads}, 0, 1)) {}

  [[nodiscard]] OneNode node(std::string rule) const {
    OneNode made{"LinearAttention", {q.tensor(), k.tensor(), v.tensor(), past.tensor()}};
    made.attributes = {integer("q_num_heads", queries), integer("kv_num_heads", heads),
                       text("update_rule", std::move(rule))};
    made.opset = 27;
    made.outputs = 2;
    return made;
  }

  /// Σ over steps s ≤ t of (q_t·k_s) · factor(s, t) · v_s, and of the past state; over √keys.
  template <class Factor>
  [[nodiscard]] double read(std::int64_t b, std::int64_t t, std::int64_t query, std::int64_t j,
                            const Factor& factor) const {
    const std::int64_t h = query / (queries / heads);
    double sum = 0.0;
    for (std::int64_t i = 0; i < keys; ++i) {
      const double x = q.at(b, t, query * keys + i);
      sum += x * factor(b, h, -1, t) *
             double{past.values[static_cast<std::size_t>(((b * heads + h) * keys + i) * values + j)]};
      for (std::int64_t s = 0; s <= t; ++s)
        sum += x * k.at(b, s, h * keys + i) * factor(b, h, s, t) * v.at(b, s, h * values + j);
    }
    return sum / std::sqrt(static_cast<double>(keys));
  }

  template <class Factor>
  void check(const OneNode& node, const Factor& factor) const {
    std::vector<double> want;
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t t = 0; t < steps; ++t)
        for (std::int64_t query = 0; query < queries; ++query)
          for (std::int64_t j = 0; j < values; ++j) want.push_back(read(b, t, query, j, factor));
    close(node, want);
  }
};

}  // namespace

TEST_CASE("LinearAttention_WithoutGates_IsASumOverTheSteps") {
  constexpr std::uint64_t seed = 27;
  CAPTURE(seed);
  Rng rng(seed);
  const Case c(rng);
  c.check(c.node("linear"), [](auto...) { return 1.0; });
}

TEST_CASE("LinearAttention_Gated_WeighsStepsByTheDecaySinceThem") {
  constexpr std::uint64_t seed = 28;
  CAPTURE(seed);
  Rng rng(seed);
  const Case c(rng);
  OneNode node = c.node("gated");
  node.inputs.emplace_back(c.decay.tensor());
  c.check(node, [&](std::int64_t b, std::int64_t h, std::int64_t s, std::int64_t t) {
    double sum = 0.0;
    for (std::int64_t r = s + 1; r <= t; ++r) sum += c.decay.at(b, r, h);
    return std::exp(sum);
  });
}

// What was written last for a key of length 1 is read back, whatever was there before.
TEST_CASE("LinearAttention_DeltaRule_ReplacesTheValueOfAKey") {
  const Tensor key = floats({1, 3, 2}, {0.6F, 0.8F, 0.6F, 0.8F, -0.8F, 0.6F});
  const Tensor value = floats({1, 3, 2}, {5, 6, 7, 8, 9, 10});
  OneNode node{
      "LinearAttention",
      {key, key, value, floats({1, 1, 2, 2}, {1, 2, 3, 4}), std::nullopt, floats({1, 3, 1}, {1, 1, 1})}};
  node.attributes = {
      integer("q_num_heads", 1), integer("kv_num_heads", 1), text("update_rule", "delta"), {"scale", 1.0F}};
  node.opset = 27;
  close(node, {5, 6, 7, 8, 9, 10});
}

TEST_CASE("LinearAttention_GatesThatTheRuleDoesNotHave_AreRefused") {
  Rng rng(1);
  const Case c(rng);
  OneNode node = c.node("linear");
  node.inputs.emplace_back(c.decay.tensor());
  CHECK(contains(node.error().message, "input 4 (decay): the update_rule has none"));
  node = c.node("delta");
  CHECK(contains(node.error().message, "input 5 (beta): the update_rule needs it"));
  node = c.node("linear");
  node.attributes[0] = integer("q_num_heads", 3);
  CHECK(contains(node.error().message, "a multiple of kv_num_heads, 2, got 3"));
}

TEST_CASE("CausalConvWithState_InTwoCalls_GivesWhatOneGives") {
  constexpr std::uint64_t seed = 29;
  CAPTURE(seed);
  Rng rng(seed);
  const Numbers x = drawn(rng, {1, 2, 6}, -1, 1);
  const Numbers w = drawn(rng, {2, 1, 3}, -1, 1);
  const Tensor bias = floats({2}, {0.5F, -0.5F});
  OneNode node{"CausalConvWithState", {x.tensor(), w.tensor(), bias}};
  node.opset = 27;
  node.outputs = 2;
  const auto run = [&] {
    const auto results = strict_outputs(node.graph(), node.named());
    REQUIRE_MESSAGE(results.ok(), results.error().message);
    return *results;
  };
  const std::vector<Tensor> whole = run();
  for (std::int64_t c = 0; c < 2; ++c)
    for (std::int64_t t = 0; t < 6; ++t) {
      double sum = c == 0 ? 0.5 : -0.5;
      for (std::int64_t i = 0; i < 3; ++i)
        if (t + i >= 2) sum += x.at(0, c, t + i - 2) * double{w.values[static_cast<std::size_t>(c * 3 + i)]};
      CHECK(double{whole[0].values<float>()[static_cast<std::size_t>(c * 6 + t)]} ==
            doctest::Approx(sum).epsilon(1e-5));
    }
  const auto part = [&](std::int64_t from, std::int64_t to) {
    std::vector<float> cut;
    for (std::int64_t c = 0; c < 2; ++c)
      for (std::int64_t t = from; t < to; ++t) cut.push_back(static_cast<float>(x.at(0, c, t)));
    return floats({1, 2, to - from}, cut);
  };
  node.inputs[0] = part(0, 1);  // shorter than the kernel: the state begins with a zero
  const std::vector<Tensor> first = run();
  CHECK(as_doubles(first[1]) == std::vector<double>{0, x.at(0, 0, 0), 0, x.at(0, 1, 0)});
  node.inputs[0] = part(1, 6);
  node.inputs.emplace_back(first[1]);
  const std::vector<Tensor> second = run();
  CHECK(second[0].values<float>()[4] == whole[0].values<float>()[5]);
  CHECK(as_doubles(second[1]) == as_doubles(whole[1]));
}

TEST_CASE("CausalConvWithState_Silu_ActsOnTheSum_AndOtherNamesAreRefused") {
  OneNode node{"CausalConvWithState", {floats({1, 1, 2}, {1, 2}), floats({1, 1, 1}, {2})}};
  node.attributes = {text("activation", "silu")};
  node.opset = 27;
  node.outputs = 2;
  close(node, {2 / (1 + std::exp(-2.0)), 4 / (1 + std::exp(-4.0))});
  CHECK(strict_outputs(node.graph(), node.named())->at(1).shape() == Shape{1, 1, 0});
  node.attributes = {text("activation", "relu")};
  CHECK(contains(node.error().message, "none, silu or swish, got 'relu'"));
}

}  // namespace driftscope::test::linear_attention_test
