// Functions of one element, Softmax and normalizations, with other formulas than the judge's kernels.
#include <cmath>
#include <functional>

#include "tests/faults/network.hpp"

namespace driftscope::alibis::functions {
namespace {

using namespace faults;

MakeNetwork unary(const std::string& op, float low, float high) {
  return [=](Rng& rng) {
    return network_of({.op = op, .inputs = {uniform(rng, {500}, low, high)}, .constants = {}});
  };
}

Fault by(std::function<float(float)> function) {
  return [function = std::move(function)](const NodeRun& run) -> Result<Tensors> {
    Tensor result = *Tensor::make(DType::float32, run.inputs[0].shape());
    const auto x = run.inputs[0].values<float>();
    for (std::size_t i = 0; i < x.size(); ++i) result.mutable_values<float>()[i] = function(x[i]);
    return Tensors{std::move(result)};
  };
}

/// Rows of the last axis, each by `body(x, y)`.
Fault by_rows(std::function<void(std::span<const float>, std::span<float>, const NodeRun&)> body) {
  return [body = std::move(body)](const NodeRun& run) -> Result<Tensors> {
    Tensor result = *Tensor::make(DType::float32, run.inputs[0].shape());
    const auto size = static_cast<std::size_t>(run.inputs[0].shape().back());
    const auto x = run.inputs[0].values<float>();
    const auto y = result.mutable_values<float>();
    for (std::size_t at = 0; at < x.size(); at += size) body(x.subspan(at, size), y.subspan(at, size), run);
    return Tensors{std::move(result)};
  };
}

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }
float newton_reciprocal(float x) {
  float y = static_cast<float>(widen(float16_format, narrow(float16_format, 1.0 / static_cast<double>(x))));
  for (int i = 0; i < 2; ++i) y = y * (2.0f - x * y);
  return y;
}
float newton_rsqrt(float x) {
  float y = static_cast<float>(
      widen(float16_format, narrow(float16_format, 1.0 / std::sqrt(static_cast<double>(x)))));
  for (int i = 0; i < 3; ++i) y = y * (1.5f - 0.5f * x * y * y);
  return y;
}
float erf_by_abramowitz(float x) {
  const float t = 1.0f / (1.0f + 0.3275911f * std::fabs(x));
  const float p =
      ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t + 0.254829592f) * t;
  return std::copysign(1.0f - p * std::exp(-x * x), x);
}

struct Moments {
  float mean = 0.0f, variance = 0.0f;
};
Moments two_pass(std::span<const float> x) {
  float sum = 0.0f, squares = 0.0f;
  for (const float v : x) sum += v;
  const float mean = sum / static_cast<float>(x.size());
  for (const float v : x) squares += (v - mean) * (v - mean);
  return {mean, squares / static_cast<float>(x.size())};
}
Moments one_pass(std::span<const float> x) {
  float sum = 0.0f, squares = 0.0f;
  for (const float v : x) sum += v, squares += v * v;
  const float mean = sum / static_cast<float>(x.size());
  return {mean, std::fmax(squares / static_cast<float>(x.size()) - mean * mean, 0.0f)};
}
Moments welford(std::span<const float> x) {
  float mean = 0.0f, squares = 0.0f;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float d = x[i] - mean;
    mean += d / static_cast<float>(i + 1);
    squares += d * (x[i] - mean);
  }
  return {mean, squares / static_cast<float>(x.size())};
}

MakeNetwork layer_normalization(float distance) {
  return [=](Rng& rng) {
    return network_of({.op = "LayerNormalization",
                       .inputs = {normal(rng, {8, 200}, 1.0f, distance)},
                       .constants = {uniform(rng, {200}, 0.5f, 1.5f), normal(rng, {200})},
                       .attributes = {integer("axis", -1), real("epsilon", 1e-5f)}});
  };
}
/// `folded`: x·a + b with a and b computed first.
Fault normalized(Moments (*moments)(std::span<const float>), float (*rsqrt)(float), bool folded) {
  return by_rows([=](std::span<const float> x, std::span<float> y, const NodeRun& run) {
    const Moments m = moments(x);
    const float factor = rsqrt(m.variance + 1e-5f);
    const auto scale = run.inputs[1].values<float>(), shift = run.inputs[2].values<float>();
    for (std::size_t i = 0; i < x.size(); ++i)
      y[i] = folded ? x[i] * (scale[i] * factor) + (shift[i] - m.mean * (scale[i] * factor))
                    : (x[i] - m.mean) * factor * scale[i] + shift[i];
  });
}
float plain_rsqrt(float x) { return 1.0f / std::sqrt(x); }

Fault softmax_by(float (*exponential)(float), bool less_maximum, bool reciprocal) {
  return by_rows([=](std::span<const float> x, std::span<float> y, const NodeRun&) {
    float largest = -INFINITY, sum = 0.0f;
    for (const float v : x) largest = std::fmax(largest, v);
    for (std::size_t i = 0; i < x.size(); ++i)
      sum += y[i] = exponential(less_maximum ? x[i] - largest : x[i]);
    const float inverse = 1.0f / sum;
    for (float& v : y) v = reciprocal ? v * inverse : v / sum;
  });
}
float exp_by_exp2(float x) { return std::exp2(x * 1.44269504f); }
float plain_exp(float x) { return std::exp(x); }

}  // namespace

void add_to(FaultTable& table) {
  const auto add = [&](const char* name, MakeNetwork network, Fault way) {
    table.add("functions", name, std::move(network), std::move(way));
  };
  add("Tanh as 2σ(2x) − 1", unary("Tanh", -4, 4),
      by([](float x) { return 2.0f * sigmoid(2.0f * x) - 1.0f; }));
  add("Tanh by (e²ˣ − 1)/(e²ˣ + 1) beyond 0.6", unary("Tanh", 0.6f, 6), by([](float x) {
        const float e = std::exp(2.0f * x);
        return (e - 1.0f) / (e + 1.0f);
      }));
  add("Sigmoid by tanh", unary("Sigmoid", -4, 8),
      by([](float x) { return 0.5f * std::tanh(0.5f * x) + 0.5f; }));
  add("Sigmoid as eˣ/(1 + eˣ)", unary("Sigmoid", -8, 8), by([](float x) {
        const float e = std::exp(x);
        return e / (1.0f + e);
      }));
  add("Exp by exp2", unary("Exp", -20, 20), by(exp_by_exp2));
  add("Log by log2", unary("Log", 1.5f, 100), by([](float x) { return std::log2(x) * 0.693147181f; }));
  add("Softplus as max(x, 0) + log1p(e^−|x|)", unary("Softplus", -8, 8),
      by([](float x) { return std::fmax(x, 0.0f) + std::log1p(std::exp(-std::fabs(x))); }));
  add("Gelu by erf of Abramowitz and Stegun", unary("Gelu", -3, 4),
      by([](float x) { return 0.5f * x * (1.0f + erf_by_abramowitz(x * 0.707106781f)); }));
  add("Reciprocal by Newton", unary("Reciprocal", 0.5f, 50), by(newton_reciprocal));
  add("Sqrt as x·rsqrt(x) by Newton", unary("Sqrt", 0.5f, 50),
      by([](float x) { return x * newton_rsqrt(x); }));
  add("HardSwish as x·clip(x/6 + ½)", unary("HardSwish", -4, 4),
      by([](float x) { return x * std::fmin(std::fmax(x * 0.166666667f + 0.5f, 0.0f), 1.0f); }));
  add(
      "Div by a reciprocal",
      [](Rng& rng) {
        return network_of(
            {.op = "Div", .inputs = {normal(rng, {300})}, .constants = {uniform(rng, {300}, 0.5f, 9.0f)}});
      },
      [](const NodeRun& run) -> Result<Tensors> {
        Tensor result = *Tensor::make(DType::float32, run.inputs[0].shape());
        const auto a = run.inputs[0].values<float>(), b = run.inputs[1].values<float>();
        for (std::size_t i = 0; i < a.size(); ++i) result.mutable_values<float>()[i] = a[i] * (1.0f / b[i]);
        return Tensors{std::move(result)};
      });
  add(
      "ReduceMean as sum · (1/n)",
      [](Rng& rng) {
        return network_of({.op = "ReduceMean",
                           .inputs = {uniform(rng, {6, 700}, 0, 1)},
                           .constants = {tensor<std::int64_t>({1}, {1})},
                           .attributes = {integer("keepdims", 0)}});
      },
      [](const NodeRun& run) -> Result<Tensors> {
        const auto x = run.inputs[0].values<float>();
        std::vector<float> means(6);
        for (std::size_t i = 0; i < 6; ++i) {
          float sum = 0.0f;
          for (std::size_t k = 0; k < 700; ++k) sum += x[i * 700 + k];
          means[i] = sum * (1.0f / 700.0f);
        }
        return Tensors{tensor<float>({6}, means)};
      });
  const auto softmax = [](Rng& rng) {
    return network_of({.op = "Softmax",
                       .inputs = {normal(rng, {10, 60}, 3.0f)},
                       .constants = {},
                       .attributes = {integer("axis", -1)}});
  };
  add("Softmax by exp2", softmax, softmax_by(exp_by_exp2, true, false));
  add("Softmax, times a reciprocal", softmax, softmax_by(plain_exp, true, true));
  add("Softmax without the maximum, in range", softmax, softmax_by(plain_exp, false, false));
  for (const float distance : {0.0f, 3.0f, 20.0f}) {
    const std::string mean = distance == 0.0f ? "0" : distance == 3.0f ? "3" : "20";
    table.add("functions", "LayerNormalization, mean " + mean + ": two passes", layer_normalization(distance),
              normalized(two_pass, plain_rsqrt, false));
    table.add("functions", "LayerNormalization, mean " + mean + ": one pass", layer_normalization(distance),
              normalized(one_pass, plain_rsqrt, false));
    table.add("functions", "LayerNormalization, mean " + mean + ": Welford", layer_normalization(distance),
              normalized(welford, plain_rsqrt, false));
    table.add("functions", "LayerNormalization, mean " + mean + ": rsqrt by Newton",
              layer_normalization(distance), normalized(two_pass, newton_rsqrt, false));
    table.add("functions", "LayerNormalization, mean " + mean + ": as x·a + b", layer_normalization(distance),
              normalized(two_pass, plain_rsqrt, true));
  }
  add(
      "BatchNormalization as x·a + b",
      [](Rng& rng) {
        return network_of({.op = "BatchNormalization",
                           .inputs = {normal(rng, {1, 6, 5, 5})},
                           .constants = {normal(rng, {6}, 0.5f, 1.0f), normal(rng, {6}), normal(rng, {6}),
                                         uniform(rng, {6}, 0.1f, 2.0f)}});
      },
      [](const NodeRun& run) -> Result<Tensors> {
        Tensor result = *Tensor::make(DType::float32, run.inputs[0].shape());
        const auto in = [&](std::size_t i) { return run.inputs[i].values<float>(); };
        for (std::size_t i = 0; i < in(0).size(); ++i) {
          const std::size_t c = i / 25;
          const float a = in(1)[c] / std::sqrt(in(4)[c] + 1e-5f);
          result.mutable_values<float>()[i] = in(0)[i] * a + (in(2)[c] - in(3)[c] * a);
        }
        return Tensors{std::move(result)};
      });
}

}  // namespace driftscope::alibis::functions
