// Against ONNX Runtime's quantizer (make_cases.py), and properties of what comes back.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <vector>

#include "core/base/rng.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/quantize/calibration_method.hpp"
#include "core/quantize/lookup_table.hpp"
#include "core/quantize/scales.hpp"
#include "unit/support/model_builder.hpp"

namespace driftscope::test::quantize_scales {
namespace {

using namespace quantize;

struct ScaleCase {
  float low, high;
  float uint8_scale;
  int uint8_zero;
  float int8_scale;
};
struct TensorCase {
  std::vector<float> values;
  float scale;
  std::vector<int> steps;
};
struct BiasCase {
  std::vector<float> bias;
  float x_scale;
  std::vector<float> w_scales, scales;
  std::vector<std::int32_t> steps;
};
struct ThresholdCase {
  int kind;
  std::vector<ValueRange> ranges;  // percentile 99.999, 99, 90; entropy
};
#include "quantizer_cases.inc"

Tensor vector_of(const std::vector<float>& values) {
  return tensor<float>({static_cast<std::int64_t>(values.size())}, values);
}

TEST_CASE("Quantize_ScalesAndZeroPoints_AreOnnxRuntimes") {
  for (const ScaleCase& one : scale_cases) {
    CAPTURE(one.low);
    CAPTURE(one.high);
    const Affine unsigned_ = affine(one.low, one.high, uint8_steps);
    CHECK(unsigned_.scale == one.uint8_scale);
    CHECK(unsigned_.zero_point == one.uint8_zero);
    CHECK(symmetric(one.low, one.high, int8_symmetric).scale == one.int8_scale);
  }
}

TEST_CASE("Quantize_StepsOfWeights_AreOnnxRuntimes") {
  for (const TensorCase& one : tensor_cases) {
    const auto made = quantize_tensor(vector_of(one.values), DType::int8, whole_tensor);
    REQUIRE(made.ok());
    CHECK(made->scales.values<float>()[0] == one.scale);
    const auto steps = made->steps.values<std::int8_t>();
    CHECK(std::vector<int>(steps.begin(), steps.end()) == one.steps);
  }
}

TEST_CASE("Quantize_Biases_AreOnnxRuntimes") {
  for (const BiasCase& one : bias_cases) {
    const auto made = quantize_bias(vector_of(one.bias), one.x_scale, vector_of(one.w_scales));
    REQUIRE(made.ok());
    const auto scales = made->scales.values<float>();
    const auto steps = made->steps.values<std::int32_t>();
    CHECK(std::vector<float>(scales.begin(), scales.end()) == one.scales);
    CHECK(std::vector<std::int32_t>(steps.begin(), steps.end()) == one.steps);
    CHECK(made->clipped == 0);
  }
  const auto clipped = quantize_bias(vector_of({1e10F}), 1e-3F, vector_of({1e-3F}));
  REQUIRE(clipped.ok());
  CHECK(clipped->clipped == 1);
}

/// As values_of in make_cases.py.
std::vector<float> values_of(int kind) {
  struct Far {
    std::uint64_t period;
    double factor;
  };
  const std::map<int, Far> far = {
      {3, {1000, 16.0}}, {4, {50, 4.0}}, {5, {200, 8.0}}, {6, {2000, 3.0}}, {7, {10, 2.5}}};
  std::vector<float> values;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double u =
        static_cast<double>(i * 2654435761U % (1ULL << 32)) / 4294967296.0 - (kind == 1 ? 0.25 : 0.5);
    const auto one = far.find(kind);
    const double factor = one != far.end() && i % one->second.period == 7 ? one->second.factor : 1.0;
    values.push_back(static_cast<float>(kind == 0 ? std::fmax(u * u * u, 0.0) : u * u * u * 8.0 * factor));
  }
  return values;
}

TEST_CASE("Quantize_Bins_BeginAtTheirEdges") {
  for (const float top : {1.0F, 0.1F, 3.3333333F, 1e-20F, 7e30F}) {
    Observed observed{{-top, 0.5F * top}, std::vector<std::int64_t>(2048)};
    for (std::size_t i = 0; i < observed.bins.size(); ++i) {
      CHECK(observed.bin_of(observed.edge(i)) == i);
      if (i > 0) CHECK(observed.bin_of(std::nextafter(observed.edge(i), -2.0F * top)) == i - 1);
    }
    CHECK(observed.bin_of(top) == 2047);
  }
  const Observed zeros{{0.0F, 0.0F}, std::vector<std::int64_t>(2048)};
  CHECK(zeros.bin_of(0.0F) == 1024);
}

TEST_CASE("Quantize_Thresholds_AreOnnxRuntimes") {
  const Method& percentile = **find_method("percentile");
  const Method& entropy = **find_method("entropy");
  for (const ThresholdCase& one : threshold_cases) {
    CAPTURE(one.kind);
    Observed observed;
    const std::vector<float> values = values_of(one.kind);
    observed.extremes = {values[0], values[0]};
    for (const float x : values) {
      observed.extremes.low = std::fmin(observed.extremes.low, x);
      observed.extremes.high = std::fmax(observed.extremes.high, x);
    }
    observed.bins.resize(percentile.bins);
    for (const float x : values) ++observed.bins[observed.bin_of(x)];
    const auto check = [](const ValueRange& got, const ValueRange& want) {
      CHECK(got.low == want.low);
      CHECK(got.high == want.high);
    };
    check(percentile.range(observed, {99.999}), one.ranges[0]);
    check(percentile.range(observed, {99.0}), one.ranges[1]);
    check(percentile.range(observed, {90.0}), one.ranges[2]);
    check(entropy.range(observed, {}), one.ranges[3]);
  }
}

TEST_CASE("Quantize_BackAgain_IsWithinHalfAStep") {
  Rng rng(7);
  for (const DType dtype : {DType::uint8, DType::int8, DType::uint4, DType::int4})
    for (const Grouping grouping : {whole_tensor, along(0), along(1), blocks(1, 4), blocks(0, 2)}) {
      std::vector<float> values(35);
      for (float& x : values) x = static_cast<float>(rng.normal());
      values[3] = 0.0F;
      const Tensor weight = tensor<float>({5, 7}, values);
      const auto made = quantize_tensor(weight, dtype, grouping);
      REQUIRE(made.ok());
      const auto back = dequantized(*made, grouping);
      REQUIRE(back.ok());
      float largest = 0.0F;
      for (const float scale : made->scales.values<float>()) largest = std::fmax(largest, scale);
      for (std::size_t i = 0; i < values.size(); ++i)
        CHECK(std::fabs(back->values<float>()[i] - values[i]) <= 0.5001F * largest);
      CHECK(back->values<float>()[3] == 0.0F);
    }
}

TEST_CASE("Quantize_BlocksHaveTheirOwnScales") {
  const Tensor weight = tensor<float>({1, 5}, {1.0F, -0.3F, 100.0F, 51.0F, 7.0F});
  const auto made = quantize_tensor(weight, DType::int4, blocks(1, 2));
  REQUIRE(made.ok());
  CHECK(made->scales.shape() == Shape{1, 3});
  CHECK(numbers_of(made->scales)[1] == doctest::Approx(100.0 / 7.0));
  CHECK(numbers_of(made->steps) == std::vector<double>{7.0, -2.0, 7.0, 4.0, 7.0});
}

TEST_CASE("LookupTable_FewDistinctValues_AreExact") {
  const std::vector<float> values = {3.0F, -1.0F, 3.0F, 0.25F, -1.0F};
  const LookupTable made = lookup_table(values, 4);
  CHECK(made.table == std::vector<float>{-1.0F, 0.25F, 3.0F});
  CHECK(made.indices == std::vector<std::uint8_t>{2, 0, 2, 1, 0});
  CHECK(made.squared_error == 0.0);
}

/// The best of all ways to cut sorted values into k ranges.
double best_error(const std::vector<double>& sorted, std::size_t begin, std::size_t k) {
  const auto cost = [&](std::size_t from, std::size_t to) {
    double mean = 0.0;
    for (std::size_t i = from; i < to; ++i) mean += sorted[i] / static_cast<double>(to - from);
    double sum = 0.0;
    for (std::size_t i = from; i < to; ++i) sum += (sorted[i] - mean) * (sorted[i] - mean);
    return sum;
  };
  if (k == 1) return cost(begin, sorted.size());
  double best = cost(begin, sorted.size());
  for (std::size_t end = begin + 1; end < sorted.size(); ++end)
    best = std::fmin(best, cost(begin, end) + best_error(sorted, end, k - 1));
  return best;
}

TEST_CASE("LookupTable_NearTheBestClusters") {
  double sum = 0.0;
  double best = 0.0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    std::vector<float> values(24);
    for (float& x : values) x = static_cast<float>(rng.normal());
    std::vector<double> sorted(values.begin(), values.end());
    std::ranges::sort(sorted);
    const LookupTable made = lookup_table(values, 4);
    REQUIRE(made.table.size() <= 4);
    double error = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double away = static_cast<double>(values[i]) - static_cast<double>(made.table[made.indices[i]]);
      error += away * away;
      for (const float other : made.table)
        CHECK(std::fabs(away) <=
              std::fabs(static_cast<double>(values[i]) - static_cast<double>(other)) + 1e-12);
    }
    const double optimum = best_error(sorted, 0, 4);
    CHECK(error >= optimum * (1.0 - 1e-6));
    sum += error;
    best += optimum;
  }
  CHECK(sum < 1.25 * best);
}

}  // namespace
}  // namespace driftscope::test::quantize_scales
