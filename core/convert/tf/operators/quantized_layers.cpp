// QLinearConv, QLinearMatMul: the operators of floats on tensors that have scales and zero points, where the
// format has kernels for that.
#include <fmt/format.h>

#include "core/convert/tf/quantized.hpp"

namespace driftscope::tf::operators::quantized_layers {
namespace {

Status expect_kernels(const Lowering& lowering, const OnnxNode& node) {
  if (!lowering.dialect().quantized)
    return unsupported(fmt::format("{} has no kernels for quantized values", lowering.dialect().name));
  const DType x = lowering.dtype(node.inputs[0]);
  if (x != DType::int8 || lowering.dtype(node.inputs[3]) != DType::int8 ||
      lowering.dtype(node.outputs[0]) != DType::int8)
    return unsupported("only int8, or uint8 that nothing else reads, has an equivalent");
  return {};
}

// Bias: with the scale of the products.
Quantization product_scales(const Quantization& x, const Quantization& weights) {
  Quantization made = weights;
  made.axis = 0;
  for (float& scale : made.scales) scale *= x.scales[0];
  return made;
}

Status lower_conv(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_CHECK(expect_kernels(lowering, node));
  DRIFTSCOPE_TRY(const Quantization x, read_quantization(lowering, node, 1, 2));
  DRIFTSCOPE_TRY(Quantization weights, read_quantization(lowering, node, 4, 5));
  DRIFTSCOPE_TRY(const Quantization y, read_quantization(lowering, node, 6, 7));
  DRIFTSCOPE_CHECK(expect_symmetric(weights));
  if (x.scales.size() != 1 || y.scales.size() != 1)
    return unsupported("activations with a scale for each channel");
  OnnxNode of_floats = node;
  of_floats.op_type = "Conv";
  of_floats.inputs = {node.inputs[0], node.inputs[3]};
  if (Lowering::has_input(node, 8)) of_floats.inputs.push_back(node.inputs[8]);
  DRIFTSCOPE_CHECK(tf_operators().find(of_floats)->lower(lowering, of_floats));
  const Node& made = lowering.latest();
  if (made.op.find("Conv2") == std::string::npos && made.op.find("Conv2d") == std::string::npos)
    return unsupported(
        "quantized convolutions in groups, of one or three axes, or strided and dilated at once");
  weights.axis = 3;
  DRIFTSCOPE_CHECK(quantize_tensor(lowering, made.inputs[0], x));
  DRIFTSCOPE_CHECK(quantize_tensor(lowering, made.inputs[1], weights));
  if (made.inputs.size() > 2)
    DRIFTSCOPE_CHECK(quantize_tensor(lowering, made.inputs[2], product_scales(x, weights)));
  return quantize_tensor(lowering, made.name, y);
}

Status lower_matmul(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_CHECK(expect_kernels(lowering, node));
  DRIFTSCOPE_TRY(const Quantization x, read_quantization(lowering, node, 1, 2));
  DRIFTSCOPE_TRY(Quantization weights, read_quantization(lowering, node, 4, 5));
  DRIFTSCOPE_TRY(const Quantization y, read_quantization(lowering, node, 6, 7));
  DRIFTSCOPE_CHECK(expect_symmetric(weights));
  if (lowering.constant(node.inputs[3]) == nullptr || lowering.rank(node.inputs[3]) != 2 ||
      lowering.rank(node.inputs[0]) < 2 || x.scales.size() != 1 || y.scales.size() != 1)
    return unsupported("quantized products other than with a constant matrix");
  DRIFTSCOPE_TRY(const std::string a, lowering.read(node.inputs[0]));
  DRIFTSCOPE_TRY(const std::string b, lowering.read(node.inputs[3], {1, 0}));
  DRIFTSCOPE_CHECK(quantize_tensor(lowering, a, x));
  weights.axis = 0;
  DRIFTSCOPE_CHECK(quantize_tensor(lowering, b, weights));
  DRIFTSCOPE_CHECK(lowering.give(node.outputs[0], "FullyConnected", {a, b}));
  return quantize_tensor(lowering, lowering.latest().name, y);
}

}  // namespace

void add_to(OperatorTable& table) {
  table.add("QLinearConv", lower_conv, Prefers::channels_last);
  table.add("QLinearMatMul", lower_matmul);
}

}  // namespace driftscope::tf::operators::quantized_layers
