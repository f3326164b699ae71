#include "core/quantize/scales.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/model/tensor_elements.hpp"

namespace driftscope::quantize {
namespace {

Affine of_range(double low, double high, StepRange steps, bool is_symmetric) {
  const double scale = (high - low) / (static_cast<double>(steps.high) - steps.low);
  // Not a number of float32 with all its digits: the tensor is as good as zero.
  if (!(scale >= static_cast<double>(std::numeric_limits<float>::min()))) return {};
  Affine made{static_cast<float>(scale), 0};
  if (!is_symmetric) made.zero_point = static_cast<std::int32_t>(std::nearbyint(steps.low - low / scale));
  return made;
}

struct Places {
  std::int64_t outer = 1, size = 1, inner = 1, block = 0, groups = 1;
  Grouping::Kind kind = Grouping::Kind::tensor;

  [[nodiscard]] std::size_t group(std::int64_t o, std::int64_t a, std::int64_t i) const {
    switch (kind) {
      case Grouping::Kind::tensor: return 0;
      case Grouping::Kind::axis: return static_cast<std::size_t>(a);
      case Grouping::Kind::block: break;
    }
    return static_cast<std::size_t>((o * ((size + block - 1) / block) + a / block) * inner + i);
  }
  template <class Body>
  void each(const Body& body) const {
    std::size_t at = 0;
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t a = 0; a < size; ++a)
        for (std::int64_t i = 0; i < inner; ++i) body(at++, group(o, a, i));
  }
};

Places places_in(const Shape& shape, Grouping grouping) {
  Places places;
  places.kind = grouping.kind;
  if (grouping.kind == Grouping::Kind::tensor) {
    places.inner = element_count(shape);
    return places;
  }
  for (std::size_t i = 0; i < grouping.axis; ++i) places.outer *= shape[i];
  places.size = shape[grouping.axis];
  for (std::size_t i = grouping.axis + 1; i < shape.size(); ++i) places.inner *= shape[i];
  places.block = grouping.block;
  places.groups = grouping.kind == Grouping::Kind::axis
                      ? places.size
                      : places.outer * ((places.size + places.block - 1) / places.block) * places.inner;
  return places;
}

Shape shape_of_scales(const Shape& shape, Grouping grouping) {
  if (grouping.kind == Grouping::Kind::tensor) return {};
  if (grouping.kind == Grouping::Kind::axis) return {shape[grouping.axis]};
  Shape scales = shape;
  scales[grouping.axis] = (shape[grouping.axis] + grouping.block - 1) / grouping.block;
  return scales;
}

StepRange steps_of(DType dtype) {
  switch (dtype) {
    case DType::int8: return int8_symmetric;
    case DType::int4: return int4_symmetric;
    case DType::uint4: return uint4_steps;
    default: return uint8_steps;
  }
}

void store(Tensor& tensor, std::size_t i, std::int32_t step) {
  if (bits_per_element(tensor.dtype()) == 4)
    store_packed(tensor, i, static_cast<unsigned>(step));
  else
    tensor.mutable_bytes()[i] = static_cast<std::byte>(step & 255);
}

}  // namespace

Affine affine(float low, float high, StepRange steps) {
  return of_range(std::fmin(low, 0.0F), std::fmax(high, 0.0F), steps, false);
}

Affine symmetric(float low, float high, StepRange steps) {
  const double largest = std::fmax(std::fabs(low), std::fabs(high));
  return of_range(-largest, largest, steps, true);
}

std::int32_t step_of(float x, Affine how, StepRange steps) {
  const float step = std::nearbyint(x / how.scale);
  const double moved = static_cast<double>(step) + how.zero_point;
  return static_cast<std::int32_t>(
      std::clamp(moved, static_cast<double>(steps.low), static_cast<double>(steps.high)));
}

Result<Quantized> quantize_tensor(const Tensor& weight, DType dtype, Grouping grouping) {
  const StepRange steps = steps_of(dtype);
  const bool is_symmetric = steps.low < 0;
  const Places places = places_in(weight.shape(), grouping);
  const auto x = weight.values<float>();
  struct Range {
    float low = 0.0F, high = 0.0F;
  };
  std::vector<Range> ranges(static_cast<std::size_t>(places.groups));
  places.each([&](std::size_t at, std::size_t group) {
    ranges[group].low = std::min(ranges[group].low, x[at]);
    ranges[group].high = std::max(ranges[group].high, x[at]);
  });
  Quantized made;
  DRIFTSCOPE_TRY(made.steps, Tensor::make(dtype, weight.shape()));
  const Shape scales = shape_of_scales(weight.shape(), grouping);
  DRIFTSCOPE_TRY(made.scales, Tensor::make(DType::float32, scales));
  DRIFTSCOPE_TRY(made.zero_points, Tensor::make(dtype, scales));
  std::vector<Affine> how;
  for (const Range& range : ranges) {
    how.push_back(is_symmetric ? symmetric(range.low, range.high, steps)
                               : affine(range.low, range.high, steps));
    made.scales.mutable_values<float>()[how.size() - 1] = how.back().scale;
    store(made.zero_points, how.size() - 1, how.back().zero_point);
  }
  places.each(
      [&](std::size_t at, std::size_t group) { store(made.steps, at, step_of(x[at], how[group], steps)); });
  return made;
}

Result<Tensor> dequantized(const Quantized& quantized, Grouping grouping) {
  DRIFTSCOPE_TRY(Tensor made, Tensor::make(DType::float32, quantized.steps.shape()));
  const auto out = made.mutable_values<float>();
  const auto scales = quantized.scales.values<float>();
  const std::vector<double> steps = numbers_of(quantized.steps);
  const std::vector<double> zeros = numbers_of(quantized.zero_points);
  places_in(quantized.steps.shape(), grouping).each([&](std::size_t at, std::size_t group) {
    out[at] = static_cast<float>(steps[at] - zeros[group]) * scales[group];
  });
  return made;
}

Result<QuantizedBias> quantize_bias(const Tensor& bias, float x_scale, const Tensor& w_scales) {
  QuantizedBias made;
  DRIFTSCOPE_TRY(made.steps, Tensor::make(DType::int32, bias.shape()));
  DRIFTSCOPE_TRY(made.scales, Tensor::make(DType::float32, w_scales.shape()));
  const auto w = w_scales.values<float>();
  const auto scales = made.scales.mutable_values<float>();
  for (std::size_t i = 0; i < w.size(); ++i) {
    scales[i] = x_scale * w[i];
    // Two tiny scales: any step is as good, a division by 0 is not.
    if (scales[i] == 0.0F) scales[i] = std::numeric_limits<float>::min();
  }
  const auto steps = made.steps.mutable_values<std::int32_t>();
  const auto x = bias.values<float>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double step =
        std::nearbyint(static_cast<double>(x[i]) / static_cast<double>(scales[w.size() == 1 ? 0 : i]));
    const double held = std::clamp(step, -2147483648.0, 2147483647.0);
    made.clipped += held != step ? 1 : 0;
    steps[i] = static_cast<std::int32_t>(held);
  }
  return made;
}

}  // namespace driftscope::quantize
