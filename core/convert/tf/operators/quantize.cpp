// DequantizeLinear and QuantizeLinear by float operators: integers of 8 bits are exact in float32 as well.
#include <fmt/format.h>

#include "core/convert/tf/elementwise.hpp"
#include "core/convert/tf/quantized.hpp"
#include "core/ops/shared/quantization.hpp"

namespace driftscope::tf::operators::quantize {
namespace {

// A scale or zero point as a float operand along `axis` of the tensor.
Result<std::string> parameter(Lowering& lowering, const OnnxNode& node, std::size_t input, const Order& order,
                              std::string_view suffix) {
  const Shape x = lowering.shape(node.inputs[0]);
  const Shape own = lowering.shape(node.inputs[input]);
  DRIFTSCOPE_TRY(const std::string given, lowering.read(node.inputs[input]));
  std::string value = given;
  if (lowering.info(given).dtype != DType::float32)
    value = lowering.make(suffix, "Cast", {given}, {{"SrcT", DType::int32}, {"DstT", DType::float32}},
                          {DType::float32, own, {}});
  if (element_count(own) == 1) return lowering.reshape(suffix, value, {});
  if (own.size() != 1) return unsupported("a scale for each block has no equivalent");
  DRIFTSCOPE_TRY(const std::int64_t attribute, int_attribute(node, "axis", 1));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(attribute, x.size()));
  Shape shape(x.size(), 1);
  shape[place_of_axis(axis, order)] = own[0];
  return lowering.reshape(suffix, value, std::move(shape));
}

Status check_type(DType dtype) {
  if (dtype == DType::int8 || dtype == DType::uint8 || dtype == DType::int16 || dtype == DType::uint16)
    return {};
  return unsupported(fmt::format(
      "{} has no equivalent in float32, which cannot hold all of its values exactly", dtype_name(dtype)));
}

// Where the format has quantized tensors: one scale and zero point, known while converting, of int8 or uint8.
bool is_tensors_own(const Lowering& lowering, const OnnxNode& node, DType quantized) {
  if (!lowering.dialect().quantized || (quantized != DType::int8 && quantized != DType::uint8)) return false;
  const Tensor* const scale = lowering.constant(node.inputs[1]);
  if (scale == nullptr || scale->elements() != 1 || scale->dtype() != DType::float32) return false;
  return !Lowering::has_input(node, 2) || lowering.constant(node.inputs[2]) != nullptr;
}

Status lower_dequantize(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_CHECK(check_type(lowering.dtype(node.inputs[0])));
  DRIFTSCOPE_TRY(const Operands x, read_operand(lowering, node));
  if (is_tensors_own(lowering, node, lowering.dtype(node.inputs[0]))) {
    DRIFTSCOPE_TRY(const Quantization own, read_quantization(lowering, node, 1, 2));
    DRIFTSCOPE_CHECK(quantize_tensor(lowering, x.tensors[0], own));
    return give_elementwise(lowering, node, "Dequantize", x.order, x.tensors);
  }
  std::string value =
      lowering.make("as_float", "Cast", x.tensors, {{"SrcT", DType::int32}, {"DstT", DType::float32}},
                    {DType::float32, lowering.info(x.tensors[0]).shape, {}});
  if (Lowering::has_input(node, 2)) {
    DRIFTSCOPE_TRY(const std::string zero, parameter(lowering, node, 2, x.order, "zero_point"));
    value = lowering.elementwise("shifted", "Sub", {value, zero});
  }
  DRIFTSCOPE_TRY(const std::string scale, parameter(lowering, node, 1, x.order, "scale"));
  return give_elementwise(lowering, node, "Mul", x.order, {value, scale});
}

Status lower_quantize(Lowering& lowering, const OnnxNode& node) {
  const DType to = lowering.dtype(node.outputs[0]);
  DRIFTSCOPE_CHECK(check_type(to));
  if (lowering.dtype(node.inputs[0]) != DType::float32) return unsupported("only float32 is quantized");
  const auto range = quantized_range(to);
  DRIFTSCOPE_TRY(const Operands x, read_operand(lowering, node));
  if (is_tensors_own(lowering, node, to)) {
    DRIFTSCOPE_TRY(const Quantization own, read_quantization(lowering, node, 1, 2));
    DRIFTSCOPE_CHECK(give_elementwise(lowering, node, "QuantizeV2", x.order, x.tensors));
    return quantize_tensor(lowering, lowering.latest().name, own);
  }
  DRIFTSCOPE_TRY(const std::string scale, parameter(lowering, node, 1, x.order, "scale"));
  const std::string quotient = lowering.elementwise("quotient", "RealDiv", {x.tensors[0], scale});
  std::string value = lowering.elementwise("rounded", "Round", {quotient});
  if (Lowering::has_input(node, 2)) {
    DRIFTSCOPE_TRY(const std::string zero, parameter(lowering, node, 2, x.order, "zero_point"));
    value = lowering.elementwise("shifted", "AddV2", {value, zero});
  }
  value =
      lowering.elementwise("at_least", "Maximum", {value, lowering.number(static_cast<double>(range->low))});
  value =
      lowering.elementwise("at_most", "Minimum", {value, lowering.number(static_cast<double>(range->high))});
  return give_elementwise(lowering, node, "Cast", x.order, {value},
                          {{"SrcT", DType::float32}, {"DstT", DType::int32}});
}

}  // namespace

void add_to(OperatorTable& table) {
  table.add("DequantizeLinear", lower_dequantize, Prefers::any);
  table.add("QuantizeLinear", lower_quantize, Prefers::any);
}

}  // namespace driftscope::tf::operators::quantize
