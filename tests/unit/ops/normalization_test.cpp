// LayerNormalization, GroupNormalization, InstanceNormalization, LRN, LpNormalization,
// MeanVarianceNormalization, and the losses.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/base/rng.hpp"
#include "tests/unit/support/seed.hpp"
#include "unit/ops/one_node.hpp"

namespace driftscope::test::normalization_test {
namespace {

using Numbers = std::vector<double>;

void near(const Numbers& got, const Numbers& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("element " << i << ": " << got[i] << ", wanted " << want[i]);
    CHECK(std::fabs(got[i] - want[i]) <= 2e-6 * std::fabs(want[i]) + 1e-7);
  }
}

struct Used {
  double worst = 0.0;
  double likely = 0.0;
};

Used budget_used(const std::vector<Bounded>& bounds, const std::vector<float>& got) {
  Used used;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double error = std::fabs(static_cast<double>(got[i]) - bounds[i].value);
    used.worst = std::fmax(used.worst, error / bounds[i].worst);
    used.likely = std::fmax(used.likely, error / bounds[i].likely);
  }
  return used;
}

enum class Way { two_passes, one_pass, welford };

struct Statistics {
  float mean = 0;
  float variance = 0;
};

Statistics statistics(const float* x, std::size_t n, Way way) {
  const auto count = static_cast<float>(n);
  Statistics result;
  if (way == Way::welford) {
    float squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const float delta = x[i] - result.mean;
      result.mean = result.mean + delta / static_cast<float>(i + 1);
      squares = squares + delta * (x[i] - result.mean);
    }
    result.variance = squares / count;
    return result;
  }
  float sum = 0;
  float raw = 0;
  for (std::size_t i = 0; i < n; ++i) sum = sum + x[i], raw = raw + x[i] * x[i];
  result.mean = sum / count;
  result.variance = raw / count - result.mean * result.mean;
  if (way == Way::one_pass) return result;
  float squares = 0;
  for (std::size_t i = 0; i < n; ++i) squares = squares + (x[i] - result.mean) * (x[i] - result.mean);
  result.variance = squares / count;
  return result;
}

const char* name_of(Way way) {
  return way == Way::two_passes ? "two passes" : way == Way::one_pass ? "one pass" : "Welford";
}

}  // namespace

TEST_CASE("Normalizations_AgreeWithPyTorch") {
  const auto x = floats({1, 4, 2}, {1, 2, 4, 8, -1, 0, 3, 5});
  const auto scale = floats({4}, {1, 2, 3, 4});
  const auto bias = floats({4}, {0, 1, 0, -1});
  near(OneNode{"GroupNormalization", {x, scale, bias}, {integer("num_groups", 2)}}.numbers(),
       {-1.02575457, -0.652752936, 1.18650079, 4.17051411, -3.45933723, -2.20139647, 1.09656799, 4.45107651});
  near(OneNode{"InstanceNormalization", {x, scale, bias}}.numbers(),
       {-0.999979973, 0.999979973, -0.999997377, 2.99999762, -2.99993992, 2.99993992, -4.99997997,
        2.99997997});
  near(OneNode{"LayerNormalization",
               {floats({2, 3}, {1, 2, 4, 0, -1, 3}), floats({3}, {1, 2, 0.5f}), floats({3}, {0, 1, -1})}}
           .numbers(),
       {-1.06904137, 0.465479374, -0.331849098, -0.392231554, -0.961157799, -0.313594699});
  near(OneNode{"LRN",
               {floats({1, 4, 1}, {1, 2, 3, 4})},
               {integer("size", 3), real("alpha", 0.5f), real("beta", 0.75f), real("bias", 2)}}
           .numbers(),
       {0.457906455, 0.665906847, 0.709817648, 1.02216768});
}

TEST_CASE("GroupNormalization_Opset18_ScalePerGroup") {
  const auto x = floats({1, 4, 1}, {0, 2, 0, 4});
  const OneNode node{"GroupNormalization",
                     {x, floats({2}, {1, 10}), floats({2}, {5, 0})},
                     {integer("num_groups", 2), real("epsilon", 0)},
                     18};
  CHECK(node.numbers() == Numbers{4, 6, -10, 10});
  CHECK(contains(OneNode{"GroupNormalization", node.inputs, {integer("num_groups", 3)}, 18}.error().message,
                 "3 groups cannot share the 4 channels"));
  CHECK(contains(OneNode{"GroupNormalization", node.inputs, {integer("num_groups", 2)}, 21}.error().message,
                 "input 1 (scale): expected one number for each channel, 4, got shape 2"));
  CHECK(contains(OneNode{"GroupNormalization", node.inputs, {integer("num_groups", 0)}}.error().message,
                 "expected at least 1, got 0"));
}

TEST_CASE("LayerNormalization_StatisticsAndAxis") {
  const auto x = floats({2, 2}, {1, 3, 2, 6});
  OneNode node{"LayerNormalization", {x, floats({2}, {1, 1})}, {real("epsilon", 0)}};
  node.outputs = 3;
  const auto results = node.run();
  CHECK(as_doubles(results[0]) == Numbers{-1, 1, -1, 1});
  CHECK(as_doubles(results[1]) == Numbers{2, 4});
  CHECK(as_doubles(results[2]) == Numbers{1, 0.5});
  CHECK(results[1].shape() == Shape{2, 1});
  CHECK(OneNode{"LayerNormalization", {x, floats({2, 2}, {1, 1, 1, 1})}, {integer("axis", 0)}}.shape() ==
        Shape{2, 2});
  CHECK(contains(OneNode{"LayerNormalization", {x, floats({3}, {1, 1, 1})}}.error().message,
                 "input 1 (Scale): shape 3 cannot be broadcast to that of input 0 (X: shape 2x2)"));
  CHECK(contains(OneNode{"LayerNormalization", node.inputs, {integer("stash_type", 7)}}.error().message,
                 "attribute stash_type"));
}

// onnxruntime#27455: numpy's results, of the formula.
TEST_CASE("LayerNormalization_ScaleBroadcastAlongAnyAxis") {
  const auto x = floats({2, 2, 2}, {1, 3, 2, 6, 0, 4, 5, 7});  // every lane is −1, 1
  const auto y = [&](Shape shape, const std::vector<float>& scale, const std::vector<float>& bias) {
    return OneNode{"LayerNormalization", {x, floats(shape, scale), floats(shape, bias)}, {real("epsilon", 0)}}
        .numbers();
  };
  CHECK(y({2, 1, 1}, {1, 10}, {0, 1}) == Numbers{-1, 1, -1, 1, -9, 11, -9, 11});
  CHECK(y({2, 1}, {2, 3}, {0, 1}) == Numbers{-2, 2, -2, 4, -2, 2, -2, 4});
  CHECK(y({1, 1, 2}, {2, 3}, {0, 1}) == Numbers{-2, 4, -2, 4, -2, 4, -2, 4});
  CHECK(y({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}, {0, 0, 0, 0, 1, 1, 1, 1}) ==
        Numbers{-1, 2, -3, 4, -4, 7, -6, 9});
  // As many numbers as a lane has, but one for each lane.
  const auto square = floats({2, 2}, {1, 3, 2, 6});
  CHECK(OneNode{"LayerNormalization", {square, floats({2, 1}, {2, 3})}, {real("epsilon", 0)}}.numbers() ==
        Numbers{-2, 2, -3, 3});
  CHECK(
      OneNode{"LayerNormalization", {x, floats({2, 1, 1}, {2, 3})}, {real("epsilon", 0), integer("axis", 1)}}
          .shape() == Shape{2, 2, 2});
}

namespace {

// Rows of standard normal numbers around `offset`, and float32 engines' results for them.
struct NormalizedRows {
  static constexpr std::size_t n = 384;
  static constexpr std::size_t rows = 60;
  std::vector<float> x, scale, bias;

  NormalizedRows(Rng& rng, float offset) : x(rows * n), scale(n), bias(n) {
    for (float& v : x) v = rng.normal() + offset;
    for (float& v : scale) v = rng.normal();
    for (float& v : bias) v = rng.normal();
  }
  std::vector<Bounded> bounds() const {
    return OneNode{"LayerNormalization", {floats({rows, n}, x), floats({n}, scale), floats({n}, bias)}}
        .bounded();
  }
  std::vector<float> computed(Way way, bool folded) const {
    std::vector<float> y;
    for (std::size_t r = 0; r < rows; ++r) {
      const auto [mean, variance] = statistics(&x[r * n], n, way);
      const float inverse = 1.0f / std::sqrt(variance + 1e-5f);
      for (std::size_t i = 0; i < n; ++i)
        y.push_back(folded ? std::fma(std::fma(x[r * n + i], inverse, -mean * inverse), scale[i], bias[i])
                           : (x[r * n + i] - mean) * inverse * scale[i] + bias[i]);
    }
    return y;
  }
};

}  // namespace

// The ways in which PyTorch (Welford, folded), ONNX Runtime (one pass) and others compute it.
TEST_CASE("LayerNormalization_EveryWayToTheVariance_LiesWithinTheBound") {
  const std::uint64_t seed = test_seed(99);
  Rng rng(seed);
  for (const float offset : {0.0f, 3.0f, 20.0f, 300.0f}) {
    const NormalizedRows drawn(rng, offset);
    const auto bounds = drawn.bounds();
    for (const Way way : {Way::two_passes, Way::one_pass, Way::welford}) {
      for (const bool folded : {false, true}) {
        const auto got = drawn.computed(way, folded);
        const Used used = budget_used(bounds, got);
        INFO(fmt::format("seed {}, offset {}, {}: {:.3g} and {:.3g} used", seed, offset, name_of(way),
                         used.worst, used.likely));
        CHECK(used.worst < 1.0);
        CHECK(used.likely < 1.0);
        CHECK(used.likely > 1e-5);
      }
    }
  }
}

// Far from 0 one pass loses every digit; that must not excuse arbitrary results there.
TEST_CASE("LayerNormalization_LargeMean_IsStillJudged") {
  const std::uint64_t seed = test_seed(100);
  SEED_INFO(seed);
  Rng rng(seed);
  const NormalizedRows drawn(rng, 3000.0f);
  const auto bounds = drawn.bounds();
  for (const Bounded& bound : bounds) REQUIRE(std::isfinite(bound.worst));
  for (const Way way : {Way::two_passes, Way::welford}) {
    CAPTURE(name_of(way));
    const Used used = budget_used(bounds, drawn.computed(way, false));
    CHECK(used.worst < 1.0);
    CHECK(used.likely < 1.0);
  }
  CHECK(!(budget_used(bounds, drawn.computed(Way::one_pass, false)).worst <= 1.0));
  std::vector<float> unnormalized = drawn.computed(Way::welford, false);
  for (float& y : unnormalized) y = y * 2.0f;
  CHECK(budget_used(bounds, unnormalized).worst > 1.0);
}

TEST_CASE("InstanceNormalization_UnbiasedVariance_IsSeen") {
  Rng rng(5);
  constexpr std::size_t n = 256;
  std::vector<float> x(n);
  for (float& v : x) v = rng.normal() + 1.0f;
  const auto bounds =
      OneNode{"InstanceNormalization", {floats({1, 1, n}, x), floats({1}, {1}), floats({1}, {0})}}.bounded();
  for (const Way way : {Way::two_passes, Way::welford}) {
    const auto [mean, variance] = statistics(x.data(), n, way);
    std::vector<float> right, wrong;
    for (const float v : x) {
      right.push_back((v - mean) / std::sqrt(variance + 1e-5f));
      wrong.push_back((v - mean) / std::sqrt(variance * n / (n - 1.0f) + 1e-5f));
    }
    CHECK(budget_used(bounds, right).likely < 1.0);
    CHECK(budget_used(bounds, wrong).worst > 1.0);
  }
}

TEST_CASE("MeanVarianceNormalization_OverChosenAxes") {
  const auto x = floats({2, 2}, {1, 10, 3, 30});
  near(OneNode{"MeanVarianceNormalization", {x}, {ints("axes", {0})}}.numbers(), {-1, -1, 1, 1});
  CHECK(contains(OneNode{"MeanVarianceNormalization", {x}}.error().message, "attribute axes"));
}

TEST_CASE("LpNormalization_OneAndTwo") {
  const auto x = floats({2, 2}, {3, 1, 4, -3});
  near(OneNode{"LpNormalization", {x}, {integer("axis", 0)}}.numbers(),
       {0.6, 1 / std::sqrt(10.0), 0.8, -3 / std::sqrt(10.0)});
  near(OneNode{"LpNormalization", {x}, {integer("p", 1)}}.numbers(), {0.75, 0.25, 4.0 / 7, -3.0 / 7});
  CHECK(contains(OneNode{"LpNormalization", {x}, {integer("p", 3)}}.error().message,
                 "attribute p: expected 1 or 2, got 3"));
}

TEST_CASE("LpNormalization_OfZeros_IsZeros") {
  const auto zeros = floats({2, 2}, {0, 0, 4, -3});
  for (const std::int64_t opset : {21, 22})
    for (const std::int64_t p : {1, 2}) {
      const OneNode node{"LpNormalization", {zeros}, {integer("p", p)}, opset};
      CHECK(node.strict_numbers()[0] == 0.0);
      CHECK(node.strict_numbers()[1] == 0.0);
    }
}

TEST_CASE("Losses_WeightsIgnoredTargetsAndReductions") {
  const auto x = floats({2, 3}, {1, 2, 4, 0, -1, 3});
  const auto target = longs({0, 2});
  const auto weight = floats({3}, {1, 2, 0.5f});
  near(OneNode{"SoftmaxCrossEntropyLoss", {x, target, weight}}.numbers(), {2.13519216});
  const OneNode nll{"NegativeLogLikelihoodLoss", {x, target, weight}, {text("reduction", "none")}};
  CHECK(nll.numbers() == Numbers{-1, -1.5});
  CHECK(OneNode{"NegativeLogLikelihoodLoss", {x, target}, {text("reduction", "sum")}}.numbers() ==
        Numbers{-4});
  CHECK(OneNode{
            "NegativeLogLikelihoodLoss", {x, target}, {text("reduction", "mean"), integer("ignore_index", 2)}}
            .numbers() == Numbers{-1});
  CHECK(contains(OneNode{"NegativeLogLikelihoodLoss", {x, longs({0, 3})}}.error().message,
                 "input 1 (target): element 1 is 3, expected a class in [0, 3)"));
  CHECK(contains(OneNode{"NegativeLogLikelihoodLoss", {x, longs({0})}}.error().message,
                 "input 1 (target): expected shape 2"));
}

}  // namespace driftscope::test::normalization_test
