// Nodes computed together as one sum: it starts from a skip connection, a bias or the shift of a batch
// normalisation whose scale was folded into weights that were rounded once. That is rounding, however large
// the start is against the sum; a term left out is not.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/platform/platform.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/seed.hpp"
#include "tests/unit/verify/small_nets.hpp"

namespace driftscope::test::continued_sum_test {
namespace {

constexpr std::int64_t positions = 24;
constexpr std::int64_t terms = 300;
constexpr std::int64_t channels = 20;
constexpr float epsilon = 1e-5f;

enum class Fusion {
  matmul_add,
  conv_add,
  conv_batch_normalization,
  conv_batch_normalization_add,
  add_of_two
};
constexpr Fusion all_fusions[] = {Fusion::matmul_add, Fusion::conv_add, Fusion::conv_batch_normalization,
                                  Fusion::conv_batch_normalization_add, Fusion::add_of_two};

struct Group {
  Fusion fusion;
  std::vector<float> x, w, skip, scale, bias, mean, variance;

  [[nodiscard]] bool normalizes() const {
    return fusion == Fusion::conv_batch_normalization || fusion == Fusion::conv_batch_normalization_add;
  }
  [[nodiscard]] bool multiplies() const {
    return fusion == Fusion::matmul_add || fusion == Fusion::add_of_two;
  }
  [[nodiscard]] bool skips() const { return fusion != Fusion::conv_batch_normalization; }

  [[nodiscard]] Graph graph() const {
    ModelBuilder builder;
    if (multiplies()) {
      builder.input("x", DType::float32, {positions, terms})
          .input("skip", DType::float32, {positions, channels});
      builder.initializer("w", tensor<float>({terms, channels}, w)).node("MatMul", {"x", "w"}, {"sum"});
    } else {
      builder.input("x", DType::float32, {1, terms, positions});
      if (skips()) builder.input("skip", DType::float32, {1, channels, positions});
      builder.initializer("w", tensor<float>({channels, terms, 1}, w)).node("Conv", {"x", "w"}, {"sum"});
    }
    std::string last = "sum";
    if (normalizes()) {
      builder.initializer("scale", tensor<float>({channels}, scale))
          .initializer("bias", tensor<float>({channels}, bias))
          .initializer("mean", tensor<float>({channels}, mean))
          .initializer("variance", tensor<float>({channels}, variance))
          .node("BatchNormalization", {last, "scale", "bias", "mean", "variance"}, {"normal"},
                {real("epsilon", epsilon)});
      last = "normal";
    }
    if (skips()) {
      // The other operand may be unrecorded too.
      std::string other = "skip";
      if (fusion == Fusion::add_of_two) {
        builder.node("Neg", {"skip"}, {"negative"});
        other = "negative";
      }
      builder.node("Add", {other, last}, {"fused"});
      last = "fused";
    }
    if (last != "fused") {
      builder.node("Relu", {last}, {"out"});
    } else {
      builder.node("Relu", {"fused"}, {"out"});
    }
    builder.output("out");
    return built(builder);
  }

  // In float32, one term after another behind the start; `left_out` is not a term.
  [[nodiscard]] Tensor computed(std::int64_t left_out = -1) const {
    std::vector<float> y(static_cast<std::size_t>(positions * channels));
    for (std::int64_t c = 0; c < channels; ++c) {
      const auto at = static_cast<std::size_t>(c);
      const float factor = normalizes() ? scale[at] / std::sqrt(variance[at] + epsilon) : 1.0f;
      const float shift = normalizes() ? bias[at] - mean[at] * factor : 0.0f;
      for (std::int64_t p = 0; p < positions; ++p) {
        const auto place = static_cast<std::size_t>(multiplies() ? p * channels + c : c * positions + p);
        float sum = shift;
        if (skips()) sum += fusion == Fusion::add_of_two ? -skip[place] : skip[place];
        for (std::int64_t k = 0; k < terms; ++k) {
          if (k == left_out) continue;
          const float weight =
              w[static_cast<std::size_t>(multiplies() ? k * channels + c : c * terms + k)] * factor;
          sum += x[static_cast<std::size_t>(multiplies() ? p * terms + k : k * positions + p)] * weight;
        }
        y[place] = std::fmax(sum, 0.0f);
      }
    }
    return tensor<float>(multiplies() ? Shape{positions, channels} : Shape{1, channels, positions}, y);
  }

  [[nodiscard]] LayerVerdict verified(const Tensor& output) const {
    Trace trace;
    trace.tensors.push_back(
        {"x", tensor<float>(multiplies() ? Shape{positions, terms} : Shape{1, terms, positions}, x)});
    if (skips()) trace.tensors.push_back({"skip", tensor<float>(output.shape(), skip)});
    trace.tensors.push_back({"out", output});
    ThreadPool threads(2);
    const auto verification = verify(graph(), "", trace, threads);
    REQUIRE_MESSAGE(verification.ok(), verification.error().message);
    REQUIRE(verification->layers.size() == 1);
    return verification->layers[0];
  }
};

// The starts of the sums are `large` relative to their terms, which have the same sign if `positive`.
Group drawn_group(Fusion fusion, float large, bool positive, Rng& rng) {
  const auto normal = [&](std::int64_t count, float center, float spread) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = center + spread * rng.normal();
    return values;
  };
  Group group{
      fusion, normal(positions * terms, 0.0f, 1.0f), normal(terms * channels, 0.0f, 0.06f), {}, {}, {}, {},
      {}};
  if (positive)
    for (std::vector<float>* values : {&group.x, &group.w})
      for (float& value : *values) value = std::fabs(value);
  group.skip = normal(positions * channels, fusion == Fusion::add_of_two ? -large : large, 0.1f * large);
  group.scale = normal(channels, 1.0f, 0.1f);
  group.bias = normal(channels, large, 0.1f * large);
  group.mean = normal(channels, 0.0f, 0.3f * large);
  group.variance = normal(channels, 2.0f, 0.1f);
  return group;
}

}  // namespace

TEST_CASE("Verify_SumsThatContinueFromAnotherNode_AreRounding") {
  const std::uint64_t first = test_seed(71);
  SEED_INFO(first);
  for (std::uint64_t seed = first; seed < first + repetitions(6); ++seed)
    for (const Fusion fusion : all_fusions)
      for (const float large : {0.1f, 3.0f, 100.0f, 3e4f})
        for (const bool positive : {false, true}) {
          Rng rng(seed);
          const Group group = drawn_group(fusion, large, positive, rng);
          const LayerVerdict layer = group.verified(group.computed());
          CAPTURE(seed);
          CAPTURE(static_cast<int>(fusion));
          CAPTURE(large);
          CAPTURE(positive);
          CAPTURE(layer.budget_used);
          CAPTURE(layer.budget_used_statistical);
          CAPTURE(layer.mean_signed_z);
          CAPTURE(reason_of(layer));
          CHECK(layer.verdict <= Verdict::rounding);
        }
}

TEST_CASE("Verify_SumsThatContinueWithoutATerm_AreFaults") {
  const std::uint64_t first = test_seed(72);
  SEED_INFO(first);
  for (std::uint64_t seed = first; seed < first + repetitions(6); ++seed)
    for (const Fusion fusion : all_fusions)
      for (const float large : {0.1f, 3.0f, 10.0f}) {
        Rng rng(seed);
        const Group group = drawn_group(fusion, large, false, rng);
        const LayerVerdict layer = group.verified(group.computed(terms / 2));
        CAPTURE(seed);
        CAPTURE(static_cast<int>(fusion));
        CAPTURE(large);
        CAPTURE(layer.budget_used);
        CHECK(layer.verdict == Verdict::fault);
      }
}

}  // namespace driftscope::test::continued_sum_test
