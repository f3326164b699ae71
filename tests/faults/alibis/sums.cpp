// Sums of products, in the orders and by the algorithms that runtimes use.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "tests/faults/network.hpp"

namespace driftscope::alibis::sums {
namespace {

using namespace faults;
using Floats = std::span<const float>;
/// Σ a[k]·b[k].
using Dot = float (*)(Floats a, Floats b);

float forwards(Floats a, Floats b) {
  float sum = 0.0f;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}
float backwards(Floats a, Floats b) {
  float sum = 0.0f;
  for (std::size_t k = a.size(); k-- > 0;) sum += a[k] * b[k];
  return sum;
}
float fused(Floats a, Floats b) {
  float sum = 0.0f;
  for (std::size_t k = 0; k < a.size(); ++k) sum = std::fma(a[k], b[k], sum);
  return sum;
}
template <std::size_t lanes>
float in_lanes(Floats a, Floats b) {
  std::array<float, lanes> partial{};
  for (std::size_t k = 0; k < a.size(); ++k) partial[k % lanes] += a[k] * b[k];
  float sum = 0.0f;
  for (const float one : partial) sum += one;
  return sum;
}
template <std::size_t block>
float in_blocks(Floats a, Floats b) {
  float sum = 0.0f;
  for (std::size_t k = 0; k < a.size(); k += block) {
    const std::size_t count = std::min(block, a.size() - k);
    sum += forwards(a.subspan(k, count), b.subspan(k, count));
  }
  return sum;
}
float split_in_four(Floats a, Floats b) {
  const std::size_t part = (a.size() + 3) / 4;
  float sum = 0.0f;
  for (std::size_t k = 0; k < a.size(); k += part) {
    const std::size_t count = std::min(part, a.size() - k);
    sum += fused(a.subspan(k, count), b.subspan(k, count));
  }
  return sum;
}
float pairwise(Floats a, Floats b) {
  if (a.size() <= 4) return forwards(a, b);
  const std::size_t half = a.size() / 2;
  return pairwise(a.first(half), b.first(half)) + pairwise(a.subspan(half), b.subspan(half));
}
float kahan(Floats a, Floats b) {
  float sum = 0.0f, lost = 0.0f;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const float term = a[k] * b[k] - lost;
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  return sum;
}
float sorted(Floats a, Floats b) {
  std::vector<float> terms;
  for (std::size_t k = 0; k < a.size(); ++k) terms.push_back(a[k] * b[k]);
  std::ranges::sort(terms, [](float x, float y) { return std::fabs(x) > std::fabs(y); });
  float sum = 0.0f;
  for (const float term : terms) sum += term;
  return sum;
}
float in_double(Floats a, Floats b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += static_cast<double>(a[k]) * static_cast<double>(b[k]);
  return static_cast<float>(sum);
}
float bfloat16_part(float x) {
  return static_cast<float>(widen(bfloat16_format, narrow(bfloat16_format, static_cast<double>(x))));
}
/// Each factor as three bfloat16 numbers, the six largest products of them.
float three_bfloat16(Floats a, Floats b) {
  float sum = 0.0f;
  for (std::size_t k = 0; k < a.size(); ++k) {
    std::array<float, 3> x{}, y{};
    float left = a[k], right = b[k];
    for (std::size_t i = 0; i < 3; ++i) {
      x[i] = bfloat16_part(left);
      left -= x[i];
      y[i] = bfloat16_part(right);
      right -= y[i];
    }
    for (std::size_t order = 3; order-- > 0;)
      for (std::size_t i = 0; i <= order; ++i) sum += x[i] * y[order - i];
  }
  return sum;
}

/// MatMul of [M, K] and [K, N] with a given summation.
Fault matmul_by(Dot dot) {
  return [dot](const NodeRun& run) -> Result<Tensors> {
    const auto a = run.inputs[0].values<float>(), b = run.inputs[1].values<float>();
    const auto depth = static_cast<std::size_t>(run.inputs[0].shape().back());
    const auto columns = static_cast<std::size_t>(run.inputs[1].shape().back());
    std::vector<float> column(depth);
    std::vector<float> result(a.size() / depth * columns);
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t k = 0; k < depth; ++k) column[k] = b[k * columns + j];
      for (std::size_t i = 0; i < a.size() / depth; ++i)
        result[i * columns + j] = dot(a.subspan(i * depth, depth), column);
    }
    return Tensors{tensor<float>(
        {static_cast<std::int64_t>(a.size() / depth), static_cast<std::int64_t>(columns)}, result)};
  };
}

/// A 1×1 convolution whose sums begin with the bias.
Fault conv_from_bias(Dot dot) {
  return [dot](const NodeRun& run) -> Result<Tensors> {
    const auto x = run.inputs[0].values<float>(), w = run.inputs[1].values<float>(),
               c = run.inputs[2].values<float>();
    const auto channels = static_cast<std::size_t>(run.inputs[0].shape()[1]);
    const auto filters = static_cast<std::size_t>(run.inputs[1].shape()[0]);
    const std::size_t plane = x.size() / channels;
    std::vector<float> result(filters * plane), left(channels + 1), right(channels + 1);
    for (std::size_t f = 0; f < filters; ++f)
      for (std::size_t p = 0; p < plane; ++p) {
        left[0] = c[f];
        right[0] = 1.0f;
        for (std::size_t k = 0; k < channels; ++k) {
          left[k + 1] = x[k * plane + p];
          right[k + 1] = w[f * channels + k];
        }
        result[f * plane + p] = dot(left, right);
      }
    Shape shape = run.inputs[0].shape();
    shape[1] = static_cast<std::int64_t>(filters);
    return Tensors{tensor<float>(shape, result)};
  };
}

}  // namespace

void add_to(FaultTable& table) {
  struct Way {
    const char* name;
    Dot dot;
  };
  const Way ways[] = {{"forwards", forwards},
                      {"backwards", backwards},
                      {"fused multiply-add", fused},
                      {"eight lanes", in_lanes<8>},
                      {"64 lanes", in_lanes<64>},
                      {"blocks of 32", in_blocks<32>},
                      {"blocks of 256", in_blocks<256>},
                      {"terms split in four", split_in_four},
                      {"pairwise", pairwise},
                      {"Kahan", kahan},
                      {"largest first", sorted},
                      {"in double", in_double},
                      {"three bfloat16", three_bfloat16}};
  for (const Way& way : ways) {
    for (const float mean : {0.0f, 0.7f})
      table.add(
          "sums", fmt::format("MatMul, {}, mean {}", way.name, mean),
          [mean](Rng& rng) {
            return network_of({.op = "MatMul",
                               .inputs = {normal(rng, {12, 1500}, 1.0f, mean)},
                               .constants = {normal(rng, {1500, 10}, 0.3f, mean)}});
          },
          matmul_by(way.dot));
    table.add(
        "sums", fmt::format("Conv 1×1, {}, from the bias", way.name),
        [](Rng& rng) {
          return network_of({.op = "Conv",
                             .inputs = {normal(rng, {1, 200, 4, 4})},
                             .constants = {normal(rng, {9, 200, 1, 1}, 0.2f), normal(rng, {9}, 5.0f)}});
        },
        conv_from_bias(way.dot));
  }
}

}  // namespace driftscope::alibis::sums
