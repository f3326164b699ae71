// RNN, GRU, LSTM beyond the ONNX cases: corners of the specification, and bounds over many steps.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/rng.hpp"
#include "unit/ops/one_node.hpp"
#include "unit/support/seed.hpp"

namespace driftscope::test::recurrent_test {
namespace {

struct Sizes {
  std::int64_t steps = 5;
  std::int64_t batch = 2;
  std::int64_t inputs = 3;
  std::int64_t hidden = 4;
};

Tensor uniform(Rng& rng, const Shape& shape, float limit) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& x : values) x = rng.uniform(-limit, limit);
  return floats(shape, values);
}

// X, W, R, B as PyTorch initialises them.
OneNode recurrent(const std::string& op, std::int64_t gates, const Sizes& s, Rng& rng,
                  std::int64_t directions = 1, float limit = 0.0f) {
  if (limit == 0.0f) limit = 1.0f / std::sqrt(static_cast<float>(s.hidden));
  OneNode node{op,
               {uniform(rng, {s.steps, s.batch, s.inputs}, 1.0f),
                uniform(rng, {directions, gates * s.hidden, s.inputs}, limit),
                uniform(rng, {directions, gates * s.hidden, s.hidden}, limit),
                uniform(rng, {directions, 2 * gates * s.hidden}, limit)}};
  node.attributes = {integer("hidden_size", s.hidden)};
  node.outputs = 2;
  return node;
}

std::vector<float> values_of(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

// The same tensor with the given axis read backwards.
Tensor turned(const Tensor& tensor, std::size_t axis) {
  const Shape& shape = tensor.shape();
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  const std::int64_t size = shape[axis];
  const std::vector<float> from = values_of(tensor);
  std::vector<float> to(from.size());
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(from.size()); ++i) {
    const std::int64_t outer = i / inner / size;
    const std::int64_t at = i / inner % size;
    to[static_cast<std::size_t>((outer * size + size - 1 - at) * inner + i % inner)] =
        from[static_cast<std::size_t>(i)];
  }
  return floats(shape, to);
}

std::vector<float> strict_y(const OneNode& node, std::size_t output = 0) {
  const auto results = strict_outputs(node.graph(), node.named());
  REQUIRE_MESSAGE(results.ok(), results.error().message);
  return values_of((*results)[output]);
}

std::int64_t gates_of(const std::string& op) { return op == "LSTM" ? 4 : op == "GRU" ? 3 : 1; }

}  // namespace

TEST_CASE("Rnn_AffineActivation_IsALinearRecurrence") {
  // h = 2·(x + h/2) + 1: no rounding in any scalar.
  OneNode node{"RNN", {floats({3, 1, 1}, {1, 2, 3}), floats({1, 1, 1}, {1}), floats({1, 1, 1}, {0.5f})}};
  node.attributes = {integer("hidden_size", 1),
                     {"activations", std::vector<std::string>{"Affine"}},
                     reals("activation_alpha", {2}),
                     reals("activation_beta", {1})};
  node.outputs = 2;
  const auto results = node.run();
  CHECK(values_of(results[0]) == std::vector<float>{3, 8, 15});
  CHECK(values_of(results[1]) == std::vector<float>{15});
  CHECK(results[0].shape() == Shape{3, 1, 1, 1});
}

TEST_CASE("Rnn_EveryActivation_ComputesItsFormula") {
  struct Row {
    std::string name;
    std::vector<float> alpha, beta;
    double (*f)(double);
  };
  const std::vector<Row> rows = {
      {"Relu", {}, {}, [](double x) { return std::fmax(x, 0.0); }},
      {"tanh", {}, {}, [](double x) { return std::tanh(x); }},
      {"Sigmoid", {}, {}, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"Affine", {0.5f}, {0.25f}, [](double x) { return 0.5 * x + 0.25; }},
      {"LeakyRelu", {}, {}, [](double x) { return x < 0 ? double{0.01f} * x : x; }},
      {"ThresholdedRelu", {0.5f}, {}, [](double x) { return x > 0.5 ? x : 0.0; }},
      {"ScaledTanh", {1.5f}, {0.5f}, [](double x) { return 1.5 * std::tanh(0.5 * x); }},
      {"HardSigmoid",
       {},
       {},
       [](double x) { return std::fmax(0.0, std::fmin(1.0, double{0.2f} * x + 0.5)); }},
      {"Elu", {2.0f}, {}, [](double x) { return x < 0 ? 2 * (std::exp(x) - 1) : x; }},
      {"Softsign", {}, {}, [](double x) { return x / (1 + std::fabs(x)); }},
      {"Softplus", {}, {}, [](double x) { return std::log1p(std::exp(x)); }},
  };
  const std::vector<float> x = {-4, -1, -0.25f, 0, 0.25f, 0.75f, 3};
  for (const Row& row : rows) {
    INFO(row.name);
    OneNode node{"RNN", {floats({1, 7, 1}, x), floats({1, 1, 1}, {1}), floats({1, 1, 1}, {0})}};
    node.attributes = {{"activations", std::vector<std::string>{row.name}},
                       reals("activation_alpha", row.alpha),
                       reals("activation_beta", row.beta)};
    node.outputs = 1;
    const std::vector<Bounded> bounds = node.bounded();
    const std::vector<float> strict = strict_y(node);
    for (std::size_t i = 0; i < x.size(); ++i) {
      CHECK(bounds[i].value == doctest::Approx(row.f(static_cast<double>(x[i]))).epsilon(1e-12));
      CHECK(std::fabs(static_cast<double>(strict[i]) - bounds[i].value) <= bounds[i].likely);
      CHECK(bounds[i].worst < 1e-5);
    }
  }
}

TEST_CASE("Recurrent_Reverse_IsForwardOverTheTurnedSequence") {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    INFO(op);
    Rng rng(test_seed(31));
    OneNode forward = recurrent(op, gates_of(op), {}, rng);
    OneNode reverse = forward;
    reverse.attributes.push_back(text("direction", "reverse"));
    reverse.inputs[0] = turned(*forward.inputs[0], 0);
    const auto a = strict_outputs(forward.graph(), forward.named());
    const auto b = strict_outputs(reverse.graph(), reverse.named());
    REQUIRE(a.ok());
    REQUIRE_MESSAGE(b.ok(), b.error().message);
    CHECK(values_of((*a)[0]) == values_of(turned((*b)[0], 0)));
    CHECK(values_of((*a)[1]) == values_of((*b)[1]));
  }
}

TEST_CASE("Recurrent_Bidirectional_IsBothDirectionsSideBySide") {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    INFO(op);
    Rng rng(test_seed(32));
    const Sizes s;
    OneNode both = recurrent(op, gates_of(op), s, rng, 2);
    both.attributes.push_back(text("direction", "bidirectional"));
    const std::vector<float> y = strict_y(both);
    for (std::int64_t d = 0; d < 2; ++d) {
      OneNode one = both;
      one.attributes = {integer("hidden_size", s.hidden), text("direction", d == 0 ? "forward" : "reverse")};
      for (std::size_t i = 1; i < 4; ++i) {
        const std::vector<float> all = values_of(*both.inputs[i]);
        const auto half = static_cast<std::ptrdiff_t>(all.size() / 2);
        Shape shape = both.inputs[i]->shape();
        shape[0] = 1;
        one.inputs[i] =
            floats(shape, std::vector<float>(all.begin() + d * half, all.begin() + (d + 1) * half));
      }
      const std::vector<float> single = strict_y(one);
      const auto block = static_cast<std::size_t>(s.batch * s.hidden);
      for (std::size_t i = 0; i < single.size(); ++i)
        CHECK(single[i] == y[(i / block * 2 + static_cast<std::size_t>(d)) * block + i % block]);
    }
  }
}

TEST_CASE("Recurrent_Layout1_IsLayout0Transposed") {
  Rng rng(test_seed(33));
  const Sizes s{.steps = 3, .batch = 2};
  OneNode plain = recurrent("LSTM", 4, s, rng);
  plain.outputs = 3;
  OneNode batched = plain;
  const std::vector<float> x = values_of(*plain.inputs[0]);
  std::vector<float> moved(x.size());
  for (std::int64_t t = 0; t < s.steps; ++t)
    for (std::int64_t b = 0; b < s.batch; ++b)
      for (std::int64_t i = 0; i < s.inputs; ++i)
        moved[static_cast<std::size_t>((b * s.steps + t) * s.inputs + i)] =
            x[static_cast<std::size_t>((t * s.batch + b) * s.inputs + i)];
  batched.inputs[0] = floats({s.batch, s.steps, s.inputs}, moved);
  batched.attributes.push_back(integer("layout", 1));
  const auto a = strict_outputs(plain.graph(), plain.named());
  const auto b = strict_outputs(batched.graph(), batched.named());
  REQUIRE(a.ok());
  REQUIRE_MESSAGE(b.ok(), b.error().message);
  CHECK((*b)[0].shape() == Shape{s.batch, s.steps, 1, s.hidden});
  CHECK((*b)[2].shape() == Shape{s.batch, 1, s.hidden});
  const std::vector<float> ya = values_of((*a)[0]);
  const std::vector<float> yb = values_of((*b)[0]);
  for (std::int64_t t = 0; t < s.steps; ++t)
    for (std::int64_t n = 0; n < s.batch; ++n)
      for (std::int64_t h = 0; h < s.hidden; ++h)
        CHECK(ya[static_cast<std::size_t>((t * s.batch + n) * s.hidden + h)] ==
              yb[static_cast<std::size_t>((n * s.steps + t) * s.hidden + h)]);
  CHECK(values_of((*a)[2]) == values_of((*b)[2]));  // one direction: the same order
}

TEST_CASE("Recurrent_SequenceLens_StopsEarlyAndZeroesTheRest") {
  Rng rng(test_seed(34));
  const Sizes s{.steps = 4, .batch = 2, .inputs = 2, .hidden = 2};
  for (const char* direction : {"forward", "reverse"}) {
    OneNode node = recurrent("GRU", 3, s, rng);
    node.attributes.push_back(text("direction", direction));
    node.inputs.push_back(tensor<std::int32_t>({2}, {4, 2}));
    const auto results = node.run();
    const std::vector<float> y = values_of(results[0]);
    // The second sequence by itself, with two steps.
    OneNode shorter = node;
    const std::vector<float> x = values_of(*node.inputs[0]);
    shorter.inputs[0] = floats({2, 1, 2}, {x[2], x[3], x[6], x[7]});
    shorter.inputs.pop_back();
    const std::vector<float> want = strict_y(shorter);
    for (std::size_t t = 0; t < 4; ++t)
      for (std::size_t h = 0; h < 2; ++h) CHECK(y[(t * 2 + 1) * 2 + h] == (t < 2 ? want[t * 2 + h] : 0.0f));
    CHECK(values_of(results[1])[2] == strict_y(shorter, 1)[0]);
  }
}

TEST_CASE("Lstm_InputForget_TakesOneMinusTheInputGate") {
  // All weights 0, c₀ = 1: i = 1/2, so f = 1/2 either way; a bias on i of +large makes i = 1, f =
  // 0.
  OneNode node{
      "LSTM",
      {floats({1, 1, 1}, {0}), floats({1, 4, 1}, {0, 0, 0, 0}), floats({1, 4, 1}, {0, 0, 0, 0}),
       floats({1, 8}, {100, 0, 0, 0, 0, 0, 0, 0}), std::nullopt, std::nullopt, floats({1, 1, 1}, {1})}};
  node.outputs = 3;
  CHECK(strict_y(node, 2)[0] == 0.5f);
  node.attributes = {integer("input_forget", 1)};
  CHECK(strict_y(node, 2)[0] == 0.0f);
}

TEST_CASE("Recurrent_Clip_LimitsWhatEntersTheActivation") {
  OneNode node{"RNN", {floats({1, 1, 1}, {10}), floats({1, 1, 1}, {1}), floats({1, 1, 1}, {0})}};
  node.attributes = {real("clip", 2.0f), {"activations", std::vector<std::string>{"Affine"}}};
  CHECK(strict_y(node)[0] == 2.0f);
}

TEST_CASE("Gru_LinearBeforeReset_ResetsTheFinishedProduct") {
  // z = 1/2; r from its bias: 0; Rb of the candidate: 3. With linear_before_reset the bias is
  // inside.
  const std::vector<float> bias = {0, -200, 0, 0, 0, 3};
  OneNode node{"GRU",
               {floats({1, 1, 1}, {0}), floats({1, 3, 1}, {0, 0, 0}), floats({1, 3, 1}, {0, 0, 0}),
                floats({1, 6}, bias)}};
  node.attributes = {{"activations", std::vector<std::string>{"Sigmoid", "Affine"}}};
  CHECK(strict_y(node)[0] == 1.5f);
  node.attributes.push_back(integer("linear_before_reset", 1));
  CHECK(strict_y(node)[0] == 0.0f);
}

// A different order of all sums, and usual sizes: a float32 result lies within the bound, and the
// bound is realistic: actual rounding is a visible part of it.
TEST_CASE("Recurrent_FourHundredSteps_UseAVisiblePartOfAUsefulBudget" * doctest::test_suite("large")) {
  struct Row {
    const char* op;
    std::int64_t hidden;
    float limit;
  };
  const std::vector<Row> rows = {{"LSTM", 64, 0.0f}, {"LSTM", 64, 0.3f}, {"GRU", 64, 0.0f},
                                 {"GRU", 64, 0.3f},  {"RNN", 64, 0.0f},  {"LSTM", 8, 0.0f}};
  for (const Row& row : rows) {
    const std::uint64_t seed = test_seed(35);
    SEED_INFO(seed);
    Rng rng(seed);
    const Sizes s{.steps = 400, .batch = 1, .inputs = 32, .hidden = row.hidden};
    const OneNode node = recurrent(row.op, gates_of(row.op), s, rng, 1, row.limit);
    const std::vector<Bounded> bounds = node.bounded();
    const std::vector<float> strict = strict_y(node);
    double worst = 0.0;
    double likely = 0.0;
    double largest = 0.0;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      const double error = std::fabs(static_cast<double>(strict[i]) - bounds[i].value);
      worst = std::fmax(worst, error / bounds[i].worst);
      likely = std::fmax(likely, error / bounds[i].likely);
      largest = std::fmax(largest, bounds[i].worst);
      CHECK(bounds[i].likely <= bounds[i].worst);
    }
    INFO(
        fmt::format("{} hidden {} weights ±{}: worst use {:.3g}, likely use {:.3g}, largest worst "
                    "{:.3g}",
                    row.op, row.hidden, row.limit, worst, likely, largest));
    CHECK(worst < 0.5);
    CHECK(likely < 0.7);
    CHECK(worst > 1e-5);
    CHECK(likely > 1e-3);
    CHECK(largest < 0.01);
  }
}

TEST_CASE("Recurrent_HiddenUnitsInAnotherOrder_LieWithinTheBound") {
  const std::uint64_t seed = test_seed(36);
  SEED_INFO(seed);
  Rng rng(seed);
  const Sizes s{.steps = 60, .batch = 1, .inputs = 16, .hidden = 24};
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    INFO(op);
    const std::int64_t gates = gates_of(op);
    const OneNode node = recurrent(op, gates, s, rng, 1, 0.4f);
    // Turning inputs and hidden units end to end sums everything in the opposite order.
    OneNode other = node;
    other.inputs[0] = turned(*node.inputs[0], 2);
    const auto by_gate = [&](const Tensor& t, Shape split, std::vector<std::size_t> axes) {
      Tensor result = *t.reshaped(split);
      for (const std::size_t axis : axes) result = turned(result, axis);
      return *result.reshaped(t.shape());
    };
    other.inputs[1] = by_gate(*node.inputs[1], {gates, s.hidden, s.inputs}, {1, 2});
    other.inputs[2] = by_gate(*node.inputs[2], {gates, s.hidden, s.hidden}, {1, 2});
    other.inputs[3] = by_gate(*node.inputs[3], {2 * gates, s.hidden}, {1});
    const auto results = strict_outputs(other.graph(), other.named());
    REQUIRE(results.ok());
    const std::vector<float> y = values_of(turned((*results)[0], 3));
    const std::vector<Bounded> bounds = node.bounded();
    for (std::size_t i = 0; i < y.size(); ++i)
      CHECK(std::fabs(static_cast<double>(y[i]) - bounds[i].value) <= bounds[i].likely);
  }
}

TEST_CASE("Recurrent_WrongInputs_SayWhichAndWhy") {
  Rng rng(1);
  const OneNode good = recurrent("LSTM", 4, {}, rng);
  const auto error_with = [&](auto change) {
    OneNode node = good;
    change(node);
    return node.error().message;
  };
  CHECK(contains(error_with([](OneNode& n) { n.attributes = {integer("hidden_size", 5)}; }),
                 "hidden_size: expected 4"));
  CHECK(contains(error_with([](OneNode& n) { n.inputs[2] = floats({1, 16, 5}, std::vector<float>(80)); }),
                 "input 2 (R)"));
  CHECK(contains(error_with([](OneNode& n) { n.inputs[3] = floats({1, 31}, std::vector<float>(31)); }),
                 "input 3 (B)"));
  CHECK(contains(error_with([](OneNode& n) { n.inputs.push_back(tensor<std::int32_t>({2}, {1, 6})); }),
                 "element 1 is 6, expected 0 to 5"));
  CHECK(contains(error_with([](OneNode& n) {
                   n.attributes = {{"activations", std::vector<std::string>{"Sigmoid", "Tanh"}}};
                 }),
                 "expected 3 names"));
  CHECK(contains(error_with([](OneNode& n) {
                   n.attributes = {{"activations", std::vector<std::string>{"Sigmoid", "Sin", "Tanh"}}};
                 }),
                 "\"Sin\" is not one of"));
  CHECK(contains(error_with([](OneNode& n) { n.attributes = {text("direction", "up")}; }),
                 "expected forward, reverse or bidirectional"));
  CHECK(contains(error_with([](OneNode& n) { n.attributes = {real("clip", -1.0f)}; }), "clip"));
}

}  // namespace driftscope::test::recurrent_test
