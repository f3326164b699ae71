#include "core/verify/verify_tensor.hpp"
#include "core/results/metrics_table.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/base/rng.hpp"
#include "core/platform/platform.hpp"
#include "core/results/metrics_table.hpp"
#include "core/verify/metrics.hpp"
#include "tests/unit/support/model_builder.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::verify_tensor_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

double uniform(Rng& rng) { return static_cast<double>(rng.below(1u << 20)) / (1u << 20); }

// A reference with all kinds of bounds, and an engine's results, mostly within them; `odd`: with
// NaN, infinities and elements far beyond their budgets, which dwarf all others.
void draw(Rng& rng, std::size_t size, bool odd, std::vector<Bounded>& reference, std::vector<float>& got) {
  const auto now_and_then = [&](std::uint64_t times) { return odd && rng.below(times) == 0; };
  for (std::size_t i = 0; i < size; ++i) {
    const double value = (uniform(rng) - 0.5) * 8.0;
    const double likely = uniform(rng) * 1e-6;
    Bounded want(value, likely * (1.0 + uniform(rng)), likely);
    if (now_and_then(50)) want = Bounded(static_cast<double>(static_cast<float>(value)));
    if (rng.below(4000) == 0) want = Bounded(value, inf, inf);
    if (now_and_then(4000)) want = Bounded(rng.below(2) == 0 ? inf : std::nan(""));
    float x = static_cast<float>(want.value + (uniform(rng) - 0.5) * want.likely);
    if (now_and_then(3000)) x = static_cast<float>(rng.below(2) == 0 ? inf : std::nan(""));
    if (now_and_then(3000)) x += 1e-6f;
    reference.push_back(want);
    got.push_back(x);
  }
}

void check_same(const Metrics& a, const Metrics& b) {
  LayerDifference x;
  LayerDifference y;
  x.metrics = a;
  y.metrics = b;
  for (const MetricRow& row : metrics_table) {
    INFO("metric ", std::string(row.key));
    const double value = metric_value(row, x);  // NaN for rows that only verify has
    if (std::isnan(value))
      CHECK(std::isnan(metric_value(row, y)));
    else
      CHECK(value == metric_value(row, y));
  }
}

}  // namespace

TEST_CASE("VerifyTensor_LargestUse_FirstOfEqualOnes") {
  const std::vector<Bounded> reference(100000, Bounded(1.0, 0.5, 0.5));
  std::vector<float> got(reference.size(), 1.0f);
  got[70000] = got[99999] = 1.25f;
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    const TensorUse used = verify_tensor(reference, tensor<float>({100000}, got), {}, pool).verified;
    CHECK(used.use.worst == 0.5);
    CHECK(used.worst_element == 70000);
    CHECK(used.specials == 0);
  }
}

// Elements that use less than others are skipped: none that matters may be among them.
TEST_CASE("VerifyTensor_IsWhatJudgingEachElementGives") {
  const std::uint64_t first = test_seed(5);
  SEED_INFO(first);
  const ErrorModel model;
  for (std::uint64_t seed = first; seed < first + repetitions(20); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    std::vector<Bounded> reference;
    std::vector<float> got;
    draw(rng, 1 + rng.below(150'000), seed % 2 == 0, reference, got);
    const auto size = static_cast<std::int64_t>(got.size());
    std::vector<float> want(got.size());
    TensorUse expected;
    for (std::size_t i = 0; i < got.size(); ++i) {
      want[i] = static_cast<float>(reference[i].value);
      const BudgetUse one =
          verify_element(reference[i], static_cast<double>(got[i]), static_cast<double>(want[i]), model);
      if (expected.worst_element < 0 || one.worst > expected.use.worst)
        expected.worst_element = static_cast<std::int64_t>(i);
      expected.use.worst = std::fmax(expected.use.worst, one.worst);
      expected.use.likely = std::fmax(expected.use.likely, one.likely);
      expected.specials += one.special ? 1 : 0;
    }
    const Tensor got_tensor = tensor<float>({size}, got);
    const auto metrics = measure(got_tensor, tensor<float>({size}, want));
    REQUIRE(metrics.ok());
    const BiasPart samples = take_bias_samples(reference, got);
    for (const int threads : {1, 2, 3}) {
      ThreadPool pool(threads);
      const TensorVerification result = verify_tensor(reference, got_tensor, model, pool, true);
      BiasPart asked;
      for (const BiasPart& part : result.samples)
        for (std::size_t i = 0; i < part.size(); ++i)
          asked[i].insert(asked[i].end(), part[i].begin(), part[i].end());
      CHECK(asked == samples);
      CHECK(verify_tensor(reference, got_tensor, model, pool).samples.empty());
      CHECK(result.verified.use.worst == expected.use.worst);
      CHECK(result.verified.use.likely == expected.use.likely);
      CHECK(result.verified.worst_element == expected.worst_element);
      CHECK(result.verified.specials == expected.specials);
      check_same(result.metrics, *metrics);
    }
  }
}

}  // namespace driftscope::test::verify_tensor_test
