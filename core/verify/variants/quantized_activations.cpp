// MatMulNBits with accuracy_level 4: a runtime may round its input to int8 first, in blocks that have a scale
// each, max|a| / 127 (ONNX Runtime's CPU kernels: the blocks of the weights; its GPU kernels: 32 or 128
// elements; others: a row). The product of what the steps stand for keeps the usual bound.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>
#include <cmath>

#include "core/eval/evaluated.hpp"
#include "core/graph/attributes.hpp"
#include "core/ops/shared/matmul_nbits.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::quantized_activations {
namespace {

/// Each block of a row of `depth` elements as int8 steps times its scale. `by_reciprocal`: steps are a · (1 /
/// scale), else a · (127 / max).
std::optional<Tensor> in_int8(const Tensor& a, std::int64_t depth, std::int64_t block, bool by_reciprocal) {
  auto numbers = lift<double>(a);
  if (!numbers.ok() || a.dtype() == DType::float64) return std::nullopt;
  std::vector<double>& values = numbers->real;
  const auto size = static_cast<std::size_t>(depth);
  for (std::size_t row = 0; row < values.size(); row += size)
    for (std::size_t first = 0; first < size; first += static_cast<std::size_t>(block)) {
      const std::size_t end = std::min(size, first + static_cast<std::size_t>(block));
      float largest = 0.0F;
      for (std::size_t i = first; i < end; ++i)
        largest = std::fmax(largest, static_cast<float>(std::fabs(values[row + i])));
      if (!std::isfinite(largest)) return std::nullopt;
      const float scale = largest / 127.0F;
      const float factor = largest == 0.0F ? 0.0F : by_reciprocal ? 1.0F / scale : 127.0F / largest;
      for (std::size_t i = first; i < end; ++i)
        values[row + i] =
            static_cast<double>(std::nearbyint(static_cast<float>(values[row + i]) * factor) * scale);
    }
  numbers->dtype = DType::float32;  // of which the steps stand for numbers that float16 has not
  numbers->tensor = Tensor();
  auto made = lower(*numbers);
  if (!made.ok()) return std::nullopt;
  return *std::move(made);
}

std::vector<Candidate> candidates(const LayerCase& layer) {
  std::vector<Candidate> made;
  const auto level = int_attribute(layer.node(), "accuracy_level", 0);
  const auto depth = int_attribute(layer.node(), "K", 0);
  const auto own = int_attribute(layer.node(), "block_size", 0);
  if (!level.ok() || *level != 4 || !depth.ok() || *depth <= 0 || !own.ok() || *own <= 0 || layer.in_group())
    return made;
  const auto a = layer.derivation.known_value(layer.node().inputs[0]);
  if (!a || a->elements() % *depth != 0) return made;
  Node apart = layer.node();
  apart.attributes.push_back(
      {std::string(separate_zero_points), static_cast<std::int64_t>(layer.got.dtype())});
  std::vector<std::int64_t> blocks = {*own, 32, 128, *depth};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (std::find(blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(i), blocks[i]) !=
        blocks.begin() + static_cast<std::ptrdiff_t>(i))
      continue;
    for (const bool by_reciprocal : {false, true})
      if (auto rounded = in_int8(*a, *depth, blocks[i], by_reciprocal))
        made.push_back({.node = apart,
                        .inputs = {other_input(0, *std::move(rounded))},
                        .parameters = {{"block", static_cast<double>(blocks[i])}}});
  }
  return made;
}

}  // namespace

void add_to(VariantTable& table) {
  table.add({.family = "algorithm",
             .id = "int8-activations",
             .name = "an input rounded to int8 in blocks, which accuracy_level 4 allows",
             .operators = {"com.microsoft.MatMulNBits"},
             .candidates = candidates});
}

}  // namespace driftscope::variants::quantized_activations
