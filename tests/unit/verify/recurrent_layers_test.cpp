// Recurrent layers with recorded states are judged step by step: other orders of summation are
// rounding after any number of steps, and a small error in a late step is a fault.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/numerics/strict_math.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/seed.hpp"
#include "tests/unit/verify/imitation.hpp"
#include "tests/unit/verify/small_nets.hpp"

namespace driftscope::test::recurrent_layers_test {
namespace {

constexpr std::int64_t steps = 150;
constexpr std::int64_t inputs = 6;
constexpr std::int64_t hidden = 24;

// One sequence through an LSTM (gates i, o, f, c) or an RNN, sums in a chosen arithmetic. Weights that
// expand: the errors of one step grow in the next ones.
struct Network {
  bool lstm;
  std::int64_t gates;
  Tensor x, w, r, b;

  Network(bool is_lstm, Rng& rng)
      : lstm(is_lstm),
        gates(is_lstm ? 4 : 1),
        x(drawn({steps, 1, inputs}, Kind::normal, rng)),
        w(drawn({1, gates * hidden, inputs}, Kind::normal, rng, 0.5f)),
        r(drawn({1, gates * hidden, hidden}, Kind::normal, rng, 0.4f)),
        b(drawn({1, 2 * gates * hidden}, Kind::normal, rng, 0.2f)) {}

  Graph graph() const {
    ModelBuilder model;
    model.opset(17)
        .input("x", DType::float32, {steps, 1, inputs})
        .initializer("w", w)
        .initializer("r", r)
        .initializer("b", b)
        .node(lstm ? "LSTM" : "RNN", {"x", "w", "r", "b"}, {"y", "last"}, {integer("hidden_size", hidden)})
        .output("y")
        .output("last");
    return built(model);
  }

  // `slip(step, h)` may corrupt a state before it is used and recorded.
  template <class Slip>
  Trace run(const Arithmetic& arithmetic, const Slip& slip) const {
    std::vector<float> h(hidden), c(hidden), y;
    for (std::int64_t step = 0; step < steps; ++step) {
      std::vector<float> sums;
      for (std::int64_t row = 0; row < gates * hidden; ++row) sums.push_back(sum(step, row, h, arithmetic));
      for (std::size_t j = 0; j < static_cast<std::size_t>(hidden); ++j) {
        if (!lstm) {
          h[j] = strict_tanh(sums[j]);
          continue;
        }
        const float i = strict_sigmoid(sums[j]);
        const float o = strict_sigmoid(sums[hidden + j]);
        const float f = strict_sigmoid(sums[2 * hidden + j]);
        c[j] = f * c[j] + i * strict_tanh(sums[3 * hidden + j]);
        h[j] = o * strict_tanh(c[j]);
      }
      slip(step, h);
      y.insert(y.end(), h.begin(), h.end());
    }
    Trace trace;
    trace.tensors = {
        {"x", x}, {"y", tensor<float>({steps, 1, 1, hidden}, y)}, {"last", tensor<float>({1, 1, hidden}, h)}};
    return trace;
  }

 private:
  float sum(std::int64_t step, std::int64_t row, const std::vector<float>& h,
            const Arithmetic& arithmetic) const {
    const auto part = [](const Tensor& tensor, std::int64_t at, std::int64_t count) {
      return tensor.values<float>().subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(count));
    };
    const float bias = part(b, row, 1)[0] + part(b, gates * hidden + row, 1)[0];
    const float from_x = arithmetic.dot(part(x, step * inputs, inputs), part(w, row * inputs, inputs), bias);
    return arithmetic.dot(h, part(r, row * hidden, hidden), from_x);
  }
};

Verification verified(const Network& network, const Trace& trace) {
  ThreadPool threads(2);
  const auto verification = verify(network.graph(), "", trace, threads);
  REQUIRE_MESSAGE(verification.ok(), verification.error().message);
  return *verification;
}

void nothing(std::int64_t /*step*/, std::vector<float>& /*h*/) {}

}  // namespace

TEST_CASE("Verify_RecordedStates_AnyOrderIsRoundingAfterManySteps" * doctest::test_suite("slow")) {
  const std::uint64_t first = test_seed(41);
  SEED_INFO(first);
  for (const bool lstm : {false, true})
    for (std::uint64_t seed = first; seed < first + repetitions(8); ++seed) {
      Rng rng(seed);
      const Network network(lstm, rng);
      for (const Arithmetic& arithmetic : correct_arithmetics()) {
        CAPTURE(lstm);
        CAPTURE(seed);
        CAPTURE(arithmetic.name);
        for (const LayerVerdict& layer : verified(network, network.run(arithmetic, nothing)).layers) {
          CAPTURE(layer.output);
          CAPTURE(layer.budget_used);
          CAPTURE(layer.budget_used_statistical);
          CHECK(layer.verdict == Verdict::rounding);
        }
      }
    }
}

TEST_CASE("Verify_RecordedStates_ASlipInALateStepIsAFault") {
  const std::uint64_t seed = test_seed(42);
  SEED_INFO(seed);
  Rng rng(seed);
  for (const bool lstm : {false, true}) {
    CAPTURE(lstm);
    const Network network(lstm, rng);
    const auto slip = [](std::int64_t step, std::vector<float>& h) {
      if (step == 100) h[3] += 2e-5f;
    };
    const Verification verification = verified(network, network.run(correct_arithmetics()[0], slip));
    CHECK(verification.verdict == Verdict::fault);
    REQUIRE(verification.layers[0].worst);
    CHECK(verification.layers[0].worst->index == std::vector<std::int64_t>{100, 0, 0, 3});
    // The next step began with the recorded state.
    CHECK(verification.layers[1].verdict == Verdict::rounding);
  }
}

}  // namespace driftscope::test::recurrent_layers_test
