#include "tests/faults/minimum_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/faults/judge.hpp"
#include "tests/faults/network.hpp"

namespace driftscope::faults {
namespace {

struct Row {
  std::string name;
  MakeNetwork (*network)(DType dtype, std::int64_t size);
  std::vector<std::int64_t> sizes;
};

MakeNetwork conv(DType dtype, std::int64_t channels) {
  return [=](Rng& rng) {
    const float spread = 1.0f / std::sqrt(9.0f * static_cast<float>(channels));
    return network_of({.op = "Conv",
                       .inputs = {normal(rng, {1, channels, 8, 8})},
                       .constants = {normal(rng, {8, channels, 3, 3}, spread), normal(rng, {8})},
                       .attributes = {ints("pads", {1, 1, 1, 1})},
                       .dtype = dtype});
  };
}

MakeNetwork matmul(DType dtype, std::int64_t depth) {
  return [=](Rng& rng) {
    return network_of({.op = "MatMul",
                       .inputs = {normal(rng, {16, depth})},
                       .constants = {normal(rng, {depth, 16}, 1.0f / std::sqrt(static_cast<float>(depth)))},
                       .dtype = dtype});
  };
}

MakeNetwork layer_normalization(DType dtype, std::int64_t size) {
  return [=](Rng& rng) {
    return network_of({.op = "LayerNormalization",
                       .inputs = {normal(rng, {8, size})},
                       .constants = {uniform(rng, {size}, 0.5f, 1.5f), normal(rng, {size})},
                       .attributes = {integer("axis", -1)},
                       .dtype = dtype});
  };
}

MakeNetwork instance_normalization(DType dtype, std::int64_t side) {
  return [=](Rng& rng) {
    return network_of({.op = "InstanceNormalization",
                       .inputs = {normal(rng, {1, 4, side, side})},
                       .constants = {uniform(rng, {4}, 0.5f, 1.5f), normal(rng, {4})},
                       .dtype = dtype});
  };
}

MakeNetwork softmax(DType dtype, std::int64_t classes) {
  return [=](Rng& rng) {
    return network_of({.op = "Softmax",
                       .inputs = {normal(rng, {8, classes}, 2.0f)},
                       .constants = {},
                       .attributes = {integer("axis", -1)},
                       .dtype = dtype});
  };
}

MakeNetwork mean(DType dtype, std::int64_t size) {
  return [=](Rng& rng) {
    return network_of({.op = "ReduceMean",
                       .inputs = {uniform(rng, {16, size}, 0.0f, 1.0f)},
                       .constants = {tensor<std::int64_t>({1}, {1})},
                       .dtype = dtype});
  };
}

template <const char* op>
MakeNetwork unary(DType dtype, std::int64_t size) {
  return [=](Rng& rng) {
    return network_of(
        {.op = op, .inputs = {uniform(rng, {size}, 0.1f, 3.0f)}, .constants = {}, .dtype = dtype});
  };
}

template <const char* op>
MakeNetwork binary(DType dtype, std::int64_t size) {
  return [=](Rng& rng) {
    return network_of({.op = op,
                       .inputs = {uniform(rng, {size}, 0.5f, 3.0f)},
                       .constants = {uniform(rng, {size}, 0.5f, 3.0f)},
                       .dtype = dtype});
  };
}

MakeNetwork lstm(DType dtype, std::int64_t steps) {
  return [=](Rng& rng) {
    constexpr std::int64_t inputs = 8, hidden = 16;
    return network_of(
        {.op = "LSTM",
         .inputs = {normal(rng, {steps, 1, inputs})},
         .constants = {normal(rng, {1, 4 * hidden, inputs}, 0.3f),
                       normal(rng, {1, 4 * hidden, hidden}, 0.25f), normal(rng, {1, 8 * hidden}, 0.1f)},
         .attributes = {integer("hidden_size", hidden)},
         .outputs = 2,
         .dtype = dtype});
  };
}

constexpr char sigmoid_op[] = "Sigmoid", tanh_op[] = "Tanh", exp_op[] = "Exp", gelu_op[] = "Gelu",
               sqrt_op[] = "Sqrt", add_op[] = "Add", div_op[] = "Div";

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"Conv 3×3, input channels", conv, {8, 64, 256}},
      {"MatMul, terms", matmul, {64, 1024, 16384}},
      {"LayerNormalization, elements", layer_normalization, {64, 768}},
      {"InstanceNormalization, side", instance_normalization, {12, 64, 128}},
      {"Softmax, classes", softmax, {10, 1000}},
      {"ReduceMean, elements", mean, {64, 4096}},
      {"LSTM, steps", lstm, {8, 64}},
      {"Sigmoid", unary<sigmoid_op>, {1000}},
      {"Tanh", unary<tanh_op>, {1000}},
      {"Exp", unary<exp_op>, {1000}},
      {"Gelu", unary<gelu_op>, {1000}},
      {"Sqrt", unary<sqrt_op>, {1000}},
      {"Add", binary<add_op>, {1000}},
      {"Div", binary<div_op>, {1000}},
  };
  return all;
}

double root_mean_square(const Tensor& tensor) {
  const Tensor values = as_dtype(tensor, DType::float64);
  double sum = 0.0;
  for (const double x : values.values<double>()) sum += x * x;
  return std::sqrt(sum / static_cast<double>(std::max<std::int64_t>(values.elements(), 1)));
}

/// The middle element moved by a share of the output's root mean square.
Fault one_element(double share) {
  return output([share](const Tensor& y) {
    const double step = share * root_mean_square(y);
    const std::int64_t middle = y.elements() / 2;
    return each([&](double x, std::int64_t i) { return i == middle ? x + step : x; })(y);
  });
}

/// The smallest 2⁻ᵏ for which the faulty layer is a fault: k grows from 0 to the first that is not.
double min_error(const MakeNetwork& network, Fault (*fault)(double), std::uint64_t seed,
                 ThreadPool& threads) {
  double seen = INFINITY;
  for (int k = 0; k <= 30; ++k) {
    const double size = std::ldexp(1.0, -k);
    const FaultKind kind{"", "", network, fault(size), {}};
    // A layer that is scaled looks like a coarse function, and gets its name: a fault all the same.
    const Outcome outcome = judge(kind, seed, threads).outcome;
    if (outcome != Outcome::right_layer && outcome != Outcome::wrong_cause) break;
    seen = size;
  }
  return seen;
}

std::string text_of(double min_error) {
  return std::isfinite(min_error) ? fmt::format("2^{}", static_cast<int>(std::log2(min_error))) : "–";
}

}  // namespace

std::string minimum_errors(std::uint64_t seeds, ThreadPool& threads) {
  std::string text =
      "| operator | size | one element, float32 | all scaled, float32 | one element, float16 | all scaled, "
      "float16 |\n"
      "|---|---|---|---|---|---|\n";
  for (const Row& row : rows())
    for (const std::int64_t size : row.sizes) {
      text += fmt::format("| {} | {} |", row.name, size);
      for (const DType dtype : {DType::float32, DType::float16}) {
        double one = 0.0, whole = 0.0;
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
          const MakeNetwork network = row.network(dtype, size);
          one = std::fmax(one, min_error(network, one_element, seed, threads));
          whole = std::fmax(
              whole,
              min_error(network, [](double share) { return output(scaled(1.0 + share)); }, seed, threads));
        }
        text += fmt::format(" {} | {} |", text_of(one), text_of(whole));
      }
      text += "\n";
    }
  return text;
}

}  // namespace driftscope::faults
