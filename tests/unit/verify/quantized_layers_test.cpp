// Layers with integer outputs that come from real numbers: one step off is rounding at the middle
// of two steps, and a fault anywhere else.
#include <doctest/doctest.h>

#include <cmath>
#include <utility>

#include "core/base/rng.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/model_builder.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::quantized_layers_test {
namespace {

// 0.25 / 0.1f lies within a float32 rounding of 2.5; the others nowhere near a middle.
const std::vector<float> x = {0.25f, 0.26f, 0.71f};

Graph quantize_and_back() {
  ModelBuilder model;
  model.opset(21)
      .input("x", DType::float32, {3})
      .initializer("scale", tensor<float>({}, {0.1f}))
      .initializer("zero", tensor<std::int8_t>({}, {0}))
      .node("QuantizeLinear", {"x", "scale", "zero"}, {"q"})
      .node("DequantizeLinear", {"q", "scale", "zero"}, {"y"})
      .output("y");
  return built(model);
}

Result<Verification> verified(const std::vector<NamedTensor>& tensors) {
  Trace trace;
  trace.tensors = tensors;
  ThreadPool threads(1);
  return verify(quantize_and_back(), "", trace, threads);
}

Tensor steps(const std::vector<std::int8_t>& values) { return tensor<std::int8_t>({3}, values); }
Tensor dequantized(const std::vector<std::int8_t>& values) {
  std::vector<float> y;
  for (const std::int8_t q : values) y.push_back(static_cast<float>(q) * 0.1f);
  return tensor<float>({3}, y);
}

}  // namespace

TEST_CASE("Verify_OneStepOffAtTheMiddle_IsRounding") {
  const std::vector<std::int8_t> q = {3, 3, 7};
  const auto result = verified({{"x", tensor<float>({3}, x)}, {"q", steps(q)}, {"y", dequantized(q)}});
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  CHECK(result->verdict == Verdict::rounding);
  CHECK(result->layers[0].verdict == Verdict::rounding);
  CHECK(result->layers[0].budget_used == 1.0);
  CHECK(result->layers[1].verdict == Verdict::identical);
}

TEST_CASE("Verify_OneStepOffElsewhere_IsAFaultAtThatElement") {
  const std::vector<std::int8_t> q = {3, 3, 8};
  const auto result = verified({{"x", tensor<float>({3}, x)}, {"q", steps(q)}, {"y", dequantized(q)}});
  REQUIRE(result.ok());
  CHECK(result->first_fault == "QuantizeLinear_0");
  const LayerVerdict& layer = result->layers[0];
  CHECK(layer.verdict == Verdict::fault);
  REQUIRE(layer.worst);
  CHECK(layer.worst->index == std::vector<std::int64_t>{2});
  CHECK(layer.worst->got == 8.0);
  CHECK(layer.worst->want == 7.0);
  CHECK(layer.worst->budget == 0.0);
  CHECK(result->layers[1].verdict == Verdict::identical);
}

TEST_CASE("Verify_TwoStepsOffAtTheMiddle_IsAFault") {
  const std::vector<std::int8_t> q = {4, 3, 7};
  const auto result = verified({{"x", tensor<float>({3}, x)}, {"q", steps(q)}, {"y", dequantized(q)}});
  REQUIRE(result.ok());
  CHECK(result->layers[0].verdict == Verdict::fault);
  CHECK(result->layers[0].worst->index == std::vector<std::int64_t>{0});
}

TEST_CASE("Verify_RightSteps_AreIdentical") {
  const std::vector<std::int8_t> q = {2, 3, 7};
  const auto result = verified({{"x", tensor<float>({3}, x)}, {"q", steps(q)}, {"y", dequantized(q)}});
  REQUIRE(result.ok());
  CHECK(result->verdict == Verdict::identical);
}

TEST_CASE("Verify_UnrecordedIntegersThatAreSure_AreComputedThrough") {
  const auto result =
      verified({{"x", tensor<float>({3}, {0.21f, 0.26f, 0.71f})}, {"y", dequantized({2, 3, 7})}});
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  CHECK(result->verdict == Verdict::identical);
  CHECK(result->layers[0].group == std::vector<std::string>{"QuantizeLinear_0"});
}

// The integers between are not recorded: the possible effects of rounding propagate.
TEST_CASE("Verify_OneStepOffInsideAGroup_IsRoundingAtTheMiddleAlone") {
  const auto verified_group = [](const std::vector<std::int8_t>& q, const char* between,
                                 const std::vector<std::string>& inputs) {
    ModelBuilder model;
    model.opset(21)
        .input("x", DType::float32, {3})
        .initializer("scale", tensor<float>({}, {0.1f}))
        .initializer("zero", tensor<std::int8_t>({}, {0}))
        .initializer("shape", tensor<std::int64_t>({1}, {3}))
        .node("QuantizeLinear", {"x", "scale", "zero"}, {"q"})
        .node(between, inputs, {"r"})
        .node("DequantizeLinear", {"r", "scale", "zero"}, {"y"})
        .output("y");
    Trace trace;
    trace.tensors = {{"x", tensor<float>({3}, x)}, {"y", dequantized(q)}};
    ThreadPool threads(1);
    return verify(built(model), "", trace, threads);
  };
  for (const auto& [between, inputs] :
       {std::pair<const char*, std::vector<std::string>>{"Identity", {"q"}}, {"Reshape", {"q", "shape"}}}) {
    CAPTURE(between);
    const auto middle = verified_group({3, 3, 7}, between, inputs);
    REQUIRE_MESSAGE(middle.ok(), middle.error().message);
    CHECK(middle->verdict == Verdict::rounding);
    const auto elsewhere = verified_group({3, 3, 8}, between, inputs);
    REQUIRE_MESSAGE(elsewhere.ok(), elsewhere.error().message);
    CHECK(elsewhere->verdict == Verdict::fault);
  }
  // The largest of two steps moves by as much as either.
  const auto pooled = [](const std::vector<std::int8_t>& q) {
    const ModelBuilder model = ModelBuilder()
                                   .opset(21)
                                   .input("x", DType::float32, {1, 1, 3})
                                   .initializer("scale", tensor<float>({}, {0.1f}))
                                   .initializer("zero", tensor<std::int8_t>({}, {0}))
                                   .node("QuantizeLinear", {"x", "scale", "zero"}, {"q"})
                                   .node("MaxPool", {"q"}, {"r"}, {ints("kernel_shape", {2})})
                                   .node("DequantizeLinear", {"r", "scale", "zero"}, {"y"})
                                   .output("y");
    Trace trace;
    trace.tensors = {
        {"x", tensor<float>({1, 1, 3}, {0.25f, 0.11f, 0.7f})},
        {"y", tensor<float>({1, 1, 2}, {0.1f * static_cast<float>(q[0]), 0.1f * static_cast<float>(q[1])})}};
    ThreadPool threads(1);
    const auto result = verify(built(model), "", trace, threads);
    REQUIRE_MESSAGE(result.ok(), result.error().message);
    return result->verdict;
  };
  CHECK(pooled({2, 7}) < Verdict::unjudged);
  CHECK(pooled({3, 7}) < Verdict::unjudged);
  CHECK(pooled({5, 7}) == Verdict::fault);
  CHECK(pooled({2, 8}) == Verdict::fault);
  // Abs of an integer ignores bounds: better no result than a wrong one.
  const auto unhandled = verified_group({3, 3, 7}, "Abs", {"q"});
  REQUIRE(unhandled.ok());
  CHECK(unhandled->verdict == Verdict::unjudged);
  CHECK(reason_of(unhandled->layers[0]).find("may have changed its integers") != std::string::npos);
}

// x·(1/s), both rounded, is within two roundings of x/s: an element moves only where a middle is that near.
TEST_CASE("Verify_ReciprocalScales_AreRoundingWithinTwoRoundingsOfAMiddle" * doctest::test_suite("large")) {
  const std::uint64_t seed = test_seed(1831);
  SEED_INFO(seed);
  Rng rng(seed);
  constexpr std::int64_t count = 30'000;
  int moved_by_reciprocal = 0, near_misses = 0;
  for (int round = 0; round < 20; ++round) {
    const float scale = rng.uniform(0.001f, 0.1f);
    std::vector<float> values;
    std::vector<std::int8_t> divided, multiplied, wrong;
    for (std::int64_t i = 0; i < count; ++i) {
      // A number near a middle, a few units in the last place away.
      const float middle = (static_cast<float>(rng.below(250)) - 125.0f + 0.5f) * scale;
      float near = middle;
      const auto away = static_cast<int>(rng.below(7)) - 3;
      for (int k = 0; k < std::abs(away); ++k) near = std::nextafter(near, away < 0 ? -1e30f : 1e30f);
      values.push_back(near);
      const auto step = [](float q) { return static_cast<std::int8_t>(std::nearbyint(q)); };
      divided.push_back(step(near / scale));
      multiplied.push_back(step(near * (1.0f / scale)));
      moved_by_reciprocal += divided.back() != multiplied.back() ? 1 : 0;
      // The other side of a middle that two roundings do not reach.
      const double exact = static_cast<double>(near) / static_cast<double>(scale);
      const double distance = std::fabs(std::fabs(exact - std::trunc(exact)) - 0.5) / std::fabs(exact);
      const bool beyond = distance > 2.02 * 0x1p-24 && distance < 2.25 * 0x1p-24;
      const double right = std::nearbyint(exact);
      wrong.push_back(beyond ? static_cast<std::int8_t>(right > exact ? right - 1.0 : right + 1.0)
                             : divided.back());
      near_misses += beyond ? 1 : 0;
    }
    const Graph graph = built(ModelBuilder()
                                  .opset(21)
                                  .input("x", DType::float32, {count})
                                  .initializer("scale", tensor<float>({}, {scale}))
                                  .initializer("zero", tensor<std::int8_t>({}, {0}))
                                  .node("QuantizeLinear", {"x", "scale", "zero"}, {"q"})
                                  .output("q"));
    const auto verdict = [&](const std::vector<std::int8_t>& q) {
      Trace trace;
      trace.tensors = {{"x", tensor<float>({count}, values)}, {"q", tensor<std::int8_t>({count}, q)}};
      ThreadPool threads(1);
      const auto verification = verify(graph, "", trace, threads);
      REQUIRE_MESSAGE(verification.ok(), verification.error().message);
      return verification->layers.front().verdict;
    };
    CHECK(verdict(divided) == Verdict::identical);
    CHECK(verdict(multiplied) <= Verdict::rounding);
    if (wrong != divided) CHECK(verdict(wrong) == Verdict::fault);
  }
  CHECK(moved_by_reciprocal > 100);
  CHECK(near_misses > 100);
  MESSAGE("seed " << seed << ": " << moved_by_reciprocal << " moved, " << near_misses << " near misses");
}

}  // namespace driftscope::test::quantized_layers_test
