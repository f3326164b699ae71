// Quantized operators: numbers to 8 bits and back, by tensor or channel, products and convolutions of them.
#include <cmath>

#include "core/hunt/draws.hpp"
#include "core/hunt/operator.hpp"
#include "core/hunt/windows.hpp"

namespace driftscope::hunt_operators::quantized {
namespace {

using namespace hunt;

DType drawn_type(Rng& rng) { return happens(rng, 2) ? DType::int8 : DType::uint8; }

std::int64_t lowest(DType dtype) { return dtype == DType::int8 ? -128 : 0; }

/// Scale and zero point, one for all or one per channel.
std::vector<std::string> parameters(Draft& draft, DType dtype, std::int64_t count) {
  Rng& rng = draft.rng();
  std::vector<float> scales;
  for (std::int64_t i = 0; i < count; ++i) scales.push_back(std::ldexp(rng.uniform(1.0f, 2.0f), -6));
  if (count == 1) {
    const auto zero = static_cast<double>(between(rng, lowest(dtype), lowest(dtype) + 255));
    return {draft.scalar(scales.front()).name, draft.scalar_of(dtype, zero).name};
  }
  const std::string scale = draft.constant(scales).name;
  return {scale, draft.whole_numbers({count}, lowest(dtype), lowest(dtype) + 255, dtype).name};
}

bool quantize(Draft& draft) {
  Rng& rng = draft.rng();
  const DraftValue x = draft.operand(1, 4);
  const DType dtype = drawn_type(rng);
  if (happens(rng, 4)) return draft.node("DynamicQuantizeLinear", {x.name}, {}, 3);
  const bool by_channel = happens(rng, 2) && x.shape.back() < 300;
  std::vector<std::string> inputs = parameters(draft, dtype, by_channel ? x.shape.back() : 1);
  inputs.insert(inputs.begin(), x.name);
  return draft.node("QuantizeLinear", inputs, {{"axis", std::int64_t{-1}}});
}

bool dequantize(Draft& draft) {
  Rng& rng = draft.rng();
  const DType dtype = drawn_type(rng);
  const DraftValue x = draft.operand(1, 4, dtype);
  const std::int64_t axis = draw_axis(rng, x.shape.size());
  const std::int64_t size = x.size(static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis));
  std::vector<std::string> inputs = parameters(draft, dtype, happens(rng, 2) && size < 300 ? size : 1);
  inputs.insert(inputs.begin(), x.name);
  if (happens(rng, 4)) inputs.pop_back();
  return draft.node("DequantizeLinear", inputs, {{"axis", axis}});
}

bool product(Draft& draft) {
  Rng& rng = draft.rng();
  // Kernels have bytes with bytes, or bytes with signed weights, but rarely the other way round.
  const DType left = drawn_type(rng), right = left == DType::int8 ? DType::int8 : drawn_type(rng);
  const DraftValue a = draft.operand(2, left);
  const std::int64_t columns = draw_extent(rng);
  const DraftValue b =
      draft.whole_numbers({a.shape.back(), columns}, lowest(right), lowest(right) + 255, right);
  if (happens(rng, 2)) {
    std::vector<std::string> inputs = {a.name, b.name};
    if (happens(rng, 2)) inputs.push_back(parameters(draft, left, 1)[1]);
    if (inputs.size() == 3 && happens(rng, 2)) inputs.push_back(parameters(draft, right, 1)[1]);
    return draft.node("MatMulInteger", inputs);
  }
  const std::vector<std::string> of_a = parameters(draft, left, 1), of_b = parameters(draft, right, 1),
                                 of_y = parameters(draft, left, 1);
  return draft.node("QLinearMatMul", {a.name, of_a[0], of_a[1], b.name, of_b[0], of_b[1], of_y[0], of_y[1]});
}

bool convolution(Draft& draft) {
  Rng& rng = draft.rng();
  // Kernels have bytes with bytes, or bytes with signed weights, but rarely the other way round.
  const DType left = drawn_type(rng), right = left == DType::int8 ? DType::int8 : drawn_type(rng);
  const DraftValue x = draft.operand(4, left);
  const std::int64_t channels = x.size(1);
  const std::int64_t groups = happens(rng, 3) ? draw_divisor(rng, channels) : 1;
  const std::int64_t made = groups * between(rng, 1, 5);
  Window window = draw_window(rng, spatial_sizes(x), true);
  Shape shape = {made, channels / groups};
  shape.insert(shape.end(), window.kernel.begin(), window.kernel.end());
  if (element_count(shape) > most_elements) return false;
  const DraftValue w = draft.whole_numbers(shape, lowest(right), lowest(right) + 255, right);
  if (groups > 1) window.attributes.push_back({"group", groups});
  if (happens(rng, 3)) {
    std::vector<std::string> inputs = {x.name, w.name};
    if (happens(rng, 2)) inputs.push_back(parameters(draft, left, 1)[1]);
    return draft.node("ConvInteger", inputs, window.attributes);
  }
  const std::vector<std::string> of_x = parameters(draft, left, 1), of_y = parameters(draft, left, 1);
  std::vector<std::string> of_w = parameters(draft, right, happens(rng, 2) ? made : 1);
  std::vector<std::string> inputs = {x.name, of_x[0], of_x[1], w.name, of_w[0], of_w[1], of_y[0], of_y[1]};
  if (happens(rng, 2)) inputs.push_back(draft.whole_numbers({made}, -4000, 4000, DType::int32).name);
  return draft.node("QLinearConv", inputs, window.attributes);
}

bool append(Draft& draft) {
  switch (draft.rng().below(4)) {
    case 0: return quantize(draft);
    case 1: return dequantize(draft);
    case 2: return product(draft);
    default: return convolution(draft);
  }
}

}  // namespace

void add_to(hunt::OperatorTable& table) {
  table.add({.order = 160, .name = "quantized", .weight = 4, .append = append});
}

}  // namespace driftscope::hunt_operators::quantized
