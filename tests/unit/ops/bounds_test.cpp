// The Bounded kernels guarantee that no usual float32 implementation errs by more than `worst`. Here
// are other ways to compute the same operators, on random data, each within the bound.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/rng.hpp"
#include "unit/ops/one_node.hpp"

namespace driftscope::test::bounds_test {
namespace {

constexpr std::uint64_t seed = 4711;

std::vector<float> random_floats(Rng& rng, std::size_t count, float scale = 1.0f) {
  std::vector<float> values(count);
  for (float& x : values) x = rng.normal() * scale;
  return values;
}

void within(const std::vector<Bounded>& bounds, const std::vector<float>& got, const std::string& form) {
  REQUIRE(bounds.size() == got.size());
  double used = 0.0;
  for (std::size_t i = 0; i < got.size(); ++i)
    used = std::fmax(used, std::fabs(static_cast<double>(got[i]) - bounds[i].value) / bounds[i].worst);
  INFO(fmt::format("seed {}, {}: {:.3g} of the budget is used", seed, form, used));
  CHECK(used <= 1.0);
  CHECK(used > 0.0);  // a bound far above all errors would hide a mistake in this test
}

using Order = std::vector<std::size_t>;

Order shuffled(Rng& rng, std::size_t count) {
  Order order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  for (std::size_t i = count; i-- > 1;) std::swap(order[i], order[rng.below(i + 1)]);
  return order;
}

}  // namespace

// Many channels, so that some come near the worst; without an offset the scale's error shows most.
TEST_CASE("BatchNormalization_FoldedAndPlainForms_LieWithinTheBound") {
  Rng rng(seed);
  constexpr std::size_t channels = 5000;
  constexpr std::size_t plane = 4;
  for (const float offset : {0.0f, 10.0f}) {
    const auto x = random_floats(rng, channels * plane, 10);
    const auto scale = random_floats(rng, channels);
    const auto bias = random_floats(rng, channels, offset);
    const auto mean = random_floats(rng, channels, offset);
    std::vector<float> var = random_floats(rng, channels);
    for (float& v : var) v = v * v + 0.01f;
    const float eps = 1e-5f;
    const auto bounds = OneNode{"BatchNormalization",
                                {floats({1, channels, plane}, x), floats({channels}, scale),
                                 floats({channels}, bias), floats({channels}, mean), floats({channels}, var)}}
                            .bounded();
    std::vector<float> folded, centred, divided, fused;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = i / plane;
      const float root = std::sqrt(var[c] + eps);
      const float a = scale[c] / root;
      folded.push_back(x[i] * a + (bias[c] - mean[c] * a));
      centred.push_back((x[i] - mean[c]) * (scale[c] * (1.0f / root)) + bias[c]);
      divided.push_back((x[i] - mean[c]) * (1.0f / root) * scale[c] + bias[c]);
      fused.push_back(std::fma(x[i], a, std::fma(-mean[c], a, bias[c])));
    }
    within(bounds, folded, "folded");
    within(bounds, centred, "centred");
    within(bounds, divided, "divided");
    within(bounds, fused, "fused");
  }
}

TEST_CASE("Mean_DividedWeightedAndTermByTerm_LieWithinTheBound") {
  Rng rng(seed);
  for (const std::size_t count : {3u, 49u, 1000u}) {
    const std::size_t planes = 40;
    const auto x = random_floats(rng, planes * count);
    const Tensor tensor = floats({1, planes, static_cast<std::int64_t>(count)}, x);
    const auto global = OneNode{"GlobalAveragePool", {tensor}}.bounded();
    const auto window =
        OneNode{"AveragePool", {tensor}, {ints("kernel_shape", {static_cast<std::int64_t>(count)})}}
            .bounded();
    const auto n = static_cast<float>(count);
    std::vector<float> divided, weighted, each;
    for (std::size_t p = 0; p < planes; ++p) {
      float sum = 0, terms = 0;
      for (const std::size_t i : shuffled(rng, count)) {
        sum = sum + x[p * count + i];
        terms = terms + x[p * count + i] * (1.0f / n);
      }
      divided.push_back(sum / n);
      weighted.push_back(sum * (1.0f / n));
      each.push_back(terms);
    }
    for (const auto& bounds : {global, window}) {
      within(bounds, divided, fmt::format("divided {}", count));
      within(bounds, weighted, fmt::format("weighted {}", count));
      within(bounds, each, fmt::format("term by term {}", count));
    }
  }
}

TEST_CASE("Softmax_ReciprocalAndDivision_LieWithinTheBound") {
  Rng rng(seed);
  const std::size_t size = 200;
  const auto x = random_floats(rng, size, 4);
  const auto bounds = OneNode{"Softmax", {floats({1, size}, x)}}.bounded();
  const float top = *std::max_element(x.begin(), x.end());
  std::vector<float> e;
  for (const float v : x) e.push_back(std::exp(v - top));
  float sum = 0;
  for (const std::size_t i : shuffled(rng, size)) sum = sum + e[i];
  std::vector<float> divided, weighted;
  for (const float v : e) {
    divided.push_back(v / sum);
    weighted.push_back(v * (1.0f / sum));
  }
  within(bounds, divided, "divided");
  within(bounds, weighted, "weighted");
}

TEST_CASE("Gemm_AlphaBeforeOrAfterAnyOrderFusedOrNot_LiesWithinTheBound") {
  Rng rng(seed);
  for (const auto& [alpha, depth] :
       {std::pair{1.0f, std::size_t{60}}, {0.7f, 60}, {-3.3f, 60}, {0.7f, 1}, {-3.3f, 1}}) {
    const std::size_t columns = 3000 / depth;
    const auto rows = static_cast<std::int64_t>(depth);
    const auto width = static_cast<std::int64_t>(columns);
    const auto a = random_floats(rng, depth);
    const auto b = random_floats(rng, depth * columns);
    const auto c = random_floats(rng, columns);
    const float beta = depth == 1 ? 0.0f : 1.3f;  // without beta, alpha's rounding shows most
    const auto bounds = OneNode{"Gemm",
                                {floats({1, rows}, a), floats({rows, width}, b), floats({width}, c)},
                                {real("alpha", alpha), real("beta", beta)}}
                            .bounded();
    std::vector<float> after, before, fused;
    for (std::size_t j = 0; j < columns; ++j) {
      float sum = 0, scaled = beta * c[j], chain = 0;
      for (const std::size_t k : shuffled(rng, depth)) {
        sum = sum + a[k] * b[k * columns + j];
        scaled = scaled + (alpha * a[k]) * b[k * columns + j];
        chain = std::fma(a[k], b[k * columns + j], chain);
      }
      after.push_back(alpha * sum + beta * c[j]);
      before.push_back(scaled);
      fused.push_back(std::fma(alpha, chain, beta * c[j]));
    }
    within(bounds, after, fmt::format("alpha {} after", alpha));
    within(bounds, before, fmt::format("alpha {} before", alpha));
    within(bounds, fused, fmt::format("alpha {} fused", alpha));
  }
}

TEST_CASE("Conv_AnyOrderBiasFirstOrLast_LiesWithinTheBound") {
  Rng rng(seed);
  const std::size_t channels = 12;
  const std::size_t width = 64;
  const auto x = random_floats(rng, channels * width);
  const auto w = random_floats(rng, channels * 3);
  const auto b = random_floats(rng, 1, 5);
  const OneNode node{"Conv", {floats({1, channels, width}, x), floats({1, channels, 3}, w), floats({1}, b)}};
  const auto bounds = node.bounded();
  std::vector<float> first, last;
  for (std::size_t o = 0; o + 2 < width; ++o) {
    float from_bias = b[0], from_zero = 0;
    for (const std::size_t k : shuffled(rng, channels * 3)) {
      const float value = x[k / 3 * width + o + k % 3];
      from_bias = from_bias + w[k] * value;
      from_zero = std::fma(w[k], value, from_zero);
    }
    first.push_back(from_bias);
    last.push_back(from_zero + b[0]);
  }
  within(bounds, first, "bias first");
  within(bounds, last, "bias last");
}

// The quick path over exact inputs and the general path must describe the same error.
TEST_CASE("Dot_ExactInputs_GiveTheBoundOfTheGeneralPath") {
  Rng rng(seed);
  const auto a = random_floats(rng, 40);
  const auto b = random_floats(rng, 40 * 7);
  const OneNode node{"MatMul", {floats({1, 40}, a), floats({40, 7}, b)}};
  const auto quick = node.bounded();
  ThreadPool threads(1);
  const Graph graph = node.graph();
  auto left = lift<Bounded>(*node.inputs[0]);
  auto right = lift<Bounded>(*node.inputs[1]);
  REQUIRE((left.ok() && right.ok()));
  left->real[0].worst = 1e-30;  // enough to leave the quick path, too small to be visible
  const std::vector<const Evaluated<Bounded>*> operands = {&*left, &*right};
  const auto general = evaluate<Bounded>(graph.nodes[0], operands, threads);
  REQUIRE(general.ok());
  for (std::size_t j = 0; j < quick.size(); ++j) {
    const Bounded& slow = (*general)[0].real[j];
    CHECK(quick[j].value == doctest::Approx(slow.value).epsilon(1e-12));
    CHECK(quick[j].worst == doctest::Approx(slow.worst).epsilon(1e-9));
    CHECK(quick[j].likely <= slow.likely * (1 + 1e-9));
  }
}

}  // namespace driftscope::test::bounds_test
