// Changes of type; the scales and zero points of quantized values belong to their tensors.
#include "core/convert/tflite/builder.hpp"
#include "core/convert/tflite/operator_table.hpp"

namespace driftscope::tflite::operators::types {
namespace {

Status cast(Builder& builder, const tf::Node& node) {
  const auto from = tensor_type(builder.info(node.inputs[0]).dtype);
  const auto to = tensor_type(builder.info(node.name).dtype);
  if (!from || !to) return unsupported("one of the types is not in TensorFlow Lite");
  builder.add(node, fb::BuiltinOperator::CAST,
              Builder::options(fb::CreateCastOptions(builder.tables(), *from, *to)));
  return {};
}

// Both also change the scale of a quantized value.
Status quantize(Builder& builder, const tf::Node& node) {
  builder.add({fb::BuiltinOperator::QUANTIZE,
               {builder.tensor(node.inputs[0])},
               {builder.tensor(node.name)},
               builder.default_options<fb::QuantizeOptions>()});
  return {};
}

Status dequantize(Builder& builder, const tf::Node& node) {
  builder.add({fb::BuiltinOperator::DEQUANTIZE,
               {builder.tensor(node.inputs[0])},
               {builder.tensor(node.name)},
               builder.default_options<fb::DequantizeOptions>()});
  return {};
}

}  // namespace

void add_to(OperatorTable& table) {
  table["Cast"] = cast;
  table["QuantizeV2"] = quantize;
  table["Dequantize"] = dequantize;
}

}  // namespace driftscope::tflite::operators::types
