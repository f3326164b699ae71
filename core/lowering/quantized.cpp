// Compiled for size on the web (cmake/core.cmake).
#include "core/lowering/quantized.hpp"

#include <cmath>

#include "core/graph/attributes.hpp"

namespace driftscope::lowering {
namespace {

bool is_byte(DType dtype) { return dtype == DType::int8 || dtype == DType::uint8; }

std::int32_t integer_at(const Tensor& tensor, std::size_t i) {
  return tensor.dtype() == DType::uint8 ? std::int32_t{tensor.values<std::uint8_t>()[i]}
                                        : std::int32_t{tensor.values<std::int8_t>()[i]};
}

}  // namespace

std::int32_t min_of(DType dtype) { return dtype == DType::uint8 ? 0 : -128; }
std::int32_t max_of(DType dtype) { return dtype == DType::uint8 ? 255 : 127; }

std::optional<Quantization> quantization_of(const GraphLowering& lowering, ValueId scale, ValueId zero_point,
                                            DType dtype) {
  const Tensor* scales = lowering.constant(scale);
  if (scales == nullptr || scales->dtype() != DType::float32 || scales->elements() == 0 || !is_byte(dtype))
    return std::nullopt;
  Quantization result;
  result.dtype = dtype;
  result.scales.assign(scales->values<float>().begin(), scales->values<float>().end());
  for (const float x : result.scales)
    if (!(x > 0.0f) || !std::isnormal(x)) return std::nullopt;
  if (zero_point == no_value) return result;
  const Tensor* zeros = lowering.constant(zero_point);
  if (zeros == nullptr || zeros->dtype() != dtype || zeros->elements() == 0) return std::nullopt;
  result.zero_point = integer_at(*zeros, 0);
  for (std::size_t i = 1; i < static_cast<std::size_t>(zeros->elements()); ++i)
    if (integer_at(*zeros, i) != result.zero_point) return std::nullopt;
  return result;
}

std::optional<Dequantized> dequantized(const GraphLowering& lowering, ValueId value) {
  const Node* node = lowering.producer(value);
  if (node == nullptr || node->op_type != "DequantizeLinear" || !node->domain.empty() ||
      node->attribute("block_size") != nullptr)
    return std::nullopt;
  const auto axis = int_attribute(*node, "axis", 1);
  const auto how =
      quantization_of(lowering, node->inputs[1], lowering.has_input(*node, 2) ? node->inputs[2] : no_value,
                      lowering.value(node->inputs[0]).dtype);
  if (!axis.ok() || !how) return std::nullopt;
  return Dequantized{node->inputs[0], *how, *axis};
}

std::optional<Quantized> quantized_behind(const GraphLowering& lowering, const Node& node) {
  Quantized result;
  result.fusion = lowering.with_activation(node);
  const Clamp relu{.min = 0.0f};
  if (!result.fusion.clamp.none() && result.fusion.clamp != relu) return std::nullopt;
  const auto next = lowering.only_reader(result.fusion.output);
  if (!next) return std::nullopt;
  const Node& quantize = lowering.graph().nodes[*next];
  if (quantize.op_type != "QuantizeLinear" || !quantize.domain.empty() ||
      quantize.inputs[0] != result.fusion.output || quantize.attribute("block_size") != nullptr)
    return std::nullopt;
  const DType dtype = lowering.value(quantize.outputs[0]).dtype;
  const auto how = quantization_of(lowering, quantize.inputs[1],
                                   lowering.has_input(quantize, 2) ? quantize.inputs[2] : no_value, dtype);
  if (!how || how->scales.size() != 1) return std::nullopt;
  result.how = *how;
  result.min = result.fusion.clamp == relu ? how->zero_point : min_of(dtype);
  result.max = max_of(dtype);
  if (result.min >= result.max) return std::nullopt;
  result.fusion.nodes.push_back(*next);
  result.fusion.output = quantize.outputs[0];
  return result;
}

const Tensor* int8_weights(const GraphLowering& lowering, ValueId id, const Quantization& how) {
  const Tensor* weights = lowering.constant(id);
  const bool fits =
      weights != nullptr && weights->dtype() == DType::int8 && how.zero_point == 0 && weights->elements() > 0;
  return fits ? weights : nullptr;
}

std::optional<std::vector<std::int32_t>> dequantized_bias(const GraphLowering& lowering, ValueId id,
                                                          float x_scale, const std::vector<float>& w_scales) {
  const Node* node = lowering.producer(id);
  if (node == nullptr || node->op_type != "DequantizeLinear") return std::nullopt;
  const Tensor* values = lowering.constant(node->inputs[0]);
  const Tensor* scales = lowering.constant(node->inputs[1]);
  if (values == nullptr || values->dtype() != DType::int32 || scales == nullptr ||
      scales->dtype() != DType::float32)
    return std::nullopt;
  if (lowering.has_input(*node, 2)) {
    const Tensor* zeros = lowering.constant(node->inputs[2]);
    if (zeros == nullptr) return std::nullopt;
    for (const std::byte b : zeros->bytes())
      if (b != std::byte{0}) return std::nullopt;
  }
  const auto given = scales->values<float>();
  if (given.size() != 1 && given.size() != w_scales.size()) return std::nullopt;
  for (std::size_t i = 0; i < w_scales.size(); ++i) {
    const float scale = given[given.size() == 1 ? 0 : i];
    // At most two roundings of a product apart.
    if (!(std::fabs(scale - x_scale * w_scales[i]) <= 0x1p-22f * scale)) return std::nullopt;
  }
  const auto list = values->values<std::int32_t>();
  return std::vector<std::int32_t>(list.begin(), list.end());
}

}  // namespace driftscope::lowering
