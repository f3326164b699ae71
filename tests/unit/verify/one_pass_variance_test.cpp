// A variance in one pass is inexact where the mean is large, and excused; one that is off by a hundredth, or
// divided by n − 1, is not.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "core/platform/platform.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/random_tensor.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::one_pass_variance_test {
namespace {

using Variance = std::function<float(std::span<const float> x, float mean)>;

template <std::size_t lanes>
float sum_of(std::span<const float> x, const std::function<float(float)>& f) {
  float parts[lanes] = {};
  for (std::size_t i = 0; i < x.size(); ++i) parts[i % lanes] += f(x[i]);
  float sum = 0.0f;
  for (const float part : parts) sum += part;
  return sum;
}

float pairwise(std::span<const float> x, const std::function<float(float)>& f) {
  if (x.size() == 1) return f(x[0]);
  return pairwise(x.first(x.size() / 2), f) + pairwise(x.subspan(x.size() / 2), f);
}

float square(float x) { return x * x; }
float same(float x) { return x; }

template <std::size_t lanes>
float one_pass(std::span<const float> x, float /*mean*/) {
  const float n = static_cast<float>(x.size());
  const float mean = sum_of<lanes>(x, same) / n;
  return sum_of<lanes>(x, square) / n - mean * mean;
}

float one_pass_in_pairs(std::span<const float> x, float /*mean*/) {
  const float part = 1.0f / static_cast<float>(x.size());
  const float mean = pairwise(x, same) * part;
  return std::fma(-mean, mean, pairwise(x, square) * part);
}

float two_passes(std::span<const float> x, float mean) {
  return sum_of<8>(x, [mean](float v) { return square(v - mean); }) / static_cast<float>(x.size());
}

float welford(std::span<const float> x, float /*mean*/) {
  float mean = 0.0f, squares = 0.0f, n = 0.0f;
  for (const float v : x) {
    n += 1.0f;
    const float apart = v - mean;
    mean += apart / n;
    squares += apart * (v - mean);
  }
  return squares / n;
}

const std::pair<const char*, Variance> correct[] = {
    {"two passes", two_passes},     {"one pass", one_pass<1>},      {"one pass, 4", one_pass<4>},
    {"one pass, 16", one_pass<16>}, {"one pass, 64", one_pass<64>}, {"one pass, pairwise", one_pass_in_pairs},
    {"Welford", welford},
};

const std::pair<const char*, Variance> wrong[] = {
    {"n - 1",
     [](std::span<const float> x, float mean) {
       const float n = static_cast<float>(x.size());
       return two_passes(x, mean) * (n / (n - 1.0f));
     }},
    {"one hundredth more", [](std::span<const float> x, float mean) { return 1.01f * two_passes(x, mean); }},
    {"one pass, one hundredth less",
     [](std::span<const float> x, float mean) { return 0.99f * one_pass<16>(x, mean); }},
};

struct Normalized {
  Tensor x;
  Graph graph;

  /// Rows of `n` numbers with deviation 1.
  Normalized(Rng& rng, std::int64_t n, float mean) {
    constexpr std::int64_t rows = 12;
    std::vector<float> values(static_cast<std::size_t>(rows * n));
    for (float& v : values) v = mean + rng.normal();
    x = tensor<float>({rows, n}, values);
    graph = built(
        ModelBuilder()
            .input("x", DType::float32, {rows, n})
            .initializer("scale", tensor<float>({n}, std::vector<float>(static_cast<std::size_t>(n), 1.0f)))
            .node("LayerNormalization", {"x", "scale"}, {"y"})
            .output("y"));
  }

  LayerVerdict verdict(const Variance& variance) const {
    const auto n = static_cast<std::size_t>(x.shape()[1]);
    std::vector<float> y;
    for (std::size_t row = 0; row < static_cast<std::size_t>(x.shape()[0]); ++row) {
      const auto lane = x.values<float>().subspan(row * n, n);
      const float mean = sum_of<8>(lane, same) / static_cast<float>(n);
      const float inverse = 1.0f / std::sqrt(variance(lane, mean) + 1e-5f);
      for (const float v : lane) y.push_back((v - mean) * inverse);
    }
    Trace trace;
    trace.tensors = {{"x", x}, {"y", tensor<float>(x.shape(), y)}};
    ThreadPool threads(2);
    const auto verification = verify(graph, "", trace, threads);
    REQUIRE_MESSAGE(verification.ok(), verification.error().message);
    return verification->layers.front();
  }
};

}  // namespace

TEST_CASE("Variance_InOnePassOrByWelford_IsExcused" * doctest::test_suite("large")) {
  const std::uint64_t seed = test_seed(4242);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(10); ++round)
    for (const std::int64_t n : {64, 200, 768, 5000})
      for (const float mean : {0.0f, 3.0f, 30.0f, -100.0f, 300.0f}) {
        const Normalized layer(rng, n, mean);
        for (const auto& [name, variance] : correct) {
          const LayerVerdict verdict = layer.verdict(variance);
          CAPTURE(std::string(name));
          CAPTURE(n);
          CAPTURE(mean);
          CAPTURE(verdict.budget_used);
          CAPTURE(verdict.budget_used_statistical);
          CAPTURE(verdict.mean_signed_z);
          CHECK((verdict.verdict == Verdict::rounding || verdict.verdict == Verdict::identical));
        }
      }
}

TEST_CASE("Variance_OffByAHundredth_IsNotExcused" * doctest::test_suite("large")) {
  const std::uint64_t seed = test_seed(4243);
  SEED_INFO(seed);
  Rng rng(seed);
  for (const std::int64_t n : {64, 100})
    for (const float mean : {0.0f, 3.0f, 30.0f, -60.0f}) {
      const Normalized layer(rng, n, mean);
      for (const auto& [name, variance] : wrong) {
        CAPTURE(std::string(name));
        CAPTURE(n);
        CAPTURE(mean);
        CHECK(layer.verdict(variance).verdict == Verdict::fault);
      }
    }
  for (const std::int64_t n : {768, 5000})
    for (const float mean : {3.0f, -30.0f}) {
      const Normalized layer(rng, n, mean);
      CAPTURE(n);
      CAPTURE(mean);
      CHECK(layer.verdict(wrong[1].second).verdict == Verdict::fault);
      CHECK(layer.verdict(wrong[2].second).verdict == Verdict::fault);
    }
}

}  // namespace driftscope::test::one_pass_variance_test
