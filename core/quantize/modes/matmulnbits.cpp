// int4-matmulnbits: as int4, but a product of an activation and a constant matrix is com.microsoft
// MatMulNBits, in which ONNX Runtime stores language models: the same steps and scales, with the zero point
// 8.
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/shared/quantization.hpp"
#include "core/quantize/weights.hpp"

namespace driftscope::quantize::modes::matmulnbits {
namespace {

constexpr std::int64_t block = 32;
constexpr std::int64_t middle = 8;

/// A product of an activation and a constant matrix: MatMul, or Gemm that only adds a bias.
bool fits(const ModelEdit& edit, const ModelNode& node) {
  const bool product = node.op_type == "MatMul";
  const auto one = [&](std::string_view name) {
    return std::ranges::all_of(node.attributes, [&](const Attribute& attribute) {
      const auto* number = std::get_if<float>(&attribute.value);
      return attribute.name != name || (number != nullptr && *number == 1.0F);
    });
  };
  const bool gemm = node.op_type == "Gemm" && int_of(node, "transA", 0) == 0 && one("alpha") && one("beta");
  const auto uses = weight_uses(edit, node);
  return (product || gemm) && edit.is_float_activation(node.inputs[0]) && uses.size() == 1 &&
         uses[0].input == 1 && edit.constant(node.inputs[1])->rank() == 2;
}

/// A matrix as MatMulNBits reads it: N outputs, K terms.
struct Packed {
  std::int64_t depth = 0, columns = 0;
  Tensor steps;   // [N, blocks, block / 2]
  Tensor scales;  // [N, blocks]
};

Result<Packed> pack(const Tensor& weight, bool rows_are_outputs) {
  Packed packed;
  const std::size_t summed = rows_are_outputs ? 1 : 0;
  packed.depth = weight.shape()[summed];
  packed.columns = weight.shape()[1 - summed];
  DRIFTSCOPE_TRY(const Quantized quantized,
                 quantize_tensor(weight, DType::int4, blocks(summed, std::min(block, packed.depth))));
  const std::int64_t count = (packed.depth + block - 1) / block;
  DRIFTSCOPE_TRY(packed.steps, Tensor::make(DType::uint8, {packed.columns, count, block / 2}));
  DRIFTSCOPE_TRY(packed.scales, Tensor::make(DType::float32, {packed.columns, count}));
  const auto steps = packed.steps.mutable_values<std::uint8_t>();
  const auto scales = packed.scales.mutable_values<float>();
  const std::vector<std::int32_t> from = quantized_values(quantized.steps);
  const auto from_scales = quantized.scales.values<float>();
  const auto at = [&](std::int64_t n, std::int64_t k, std::int64_t size) {
    return static_cast<std::size_t>(rows_are_outputs ? n * size + k : k * packed.columns + n);
  };
  std::ranges::fill(steps, static_cast<std::uint8_t>(middle << 4 | middle));
  for (std::int64_t n = 0; n < packed.columns; ++n) {
    for (std::int64_t k = 0; k < packed.depth; ++k) {
      std::uint8_t& byte = steps[static_cast<std::size_t>(n * count * (block / 2) + k / 2)];
      const auto step = static_cast<unsigned>(from[at(n, k, packed.depth)] + middle);
      byte = static_cast<std::uint8_t>(k % 2 == 0 ? (byte & 0xF0U) | step : (byte & 0x0FU) | step << 4);
    }
    for (std::int64_t b = 0; b < count; ++b)
      scales[static_cast<std::size_t>(n * count + b)] = from_scales[at(n, b, count)];
  }
  return packed;
}

Status convert(ModelEdit& edit, const ModelNode& node) {
  const std::string& name = node.inputs[1];
  const Tensor weight = *edit.constant(name);
  DRIFTSCOPE_CHECK(check_finite(weight, node.name, name));
  DRIFTSCOPE_TRY(Packed packed, pack(weight, node.op_type == "Gemm" && int_of(node, "transB", 0) != 0));
  const bool biased = node.op_type == "Gemm" && node.inputs.size() > 2 && !node.inputs[2].empty();
  ModelNode product;
  product.op_type = "MatMulNBits";
  product.domain = "com.microsoft";
  product.name = node.name;
  product.inputs = {node.inputs[0], edit.add_constant(name + ".steps", std::move(packed.steps)),
                    edit.add_constant(name + ".scales", std::move(packed.scales))};
  product.outputs = {biased ? edit.fresh(node.outputs[0] + ".product") : node.outputs[0]};
  product.attributes = {int_attribute_of("K", packed.depth), int_attribute_of("N", packed.columns),
                        int_attribute_of("bits", 4), int_attribute_of("block_size", block)};
  const std::string sum = product.outputs[0];
  edit.emit(std::move(product));
  if (biased) edit.emit("Add", node.name + "/Add", {sum, node.inputs[2]}, {}, node.outputs[0]);
  return {};
}

Status apply(ModelEdit& edit, const ModeOptions& options, std::vector<std::string>& /*notes*/) {
  edit.require_domain("com.microsoft", 1);
  return compress_weights(
      edit, options,
      [](ModelEdit& to, const std::string& name, const Tensor& weight, const WeightUse& use) {
        return emit_blocked(to, name, weight, use, DType::int4, block);
      },
      [](ModelEdit& to, const ModelNode& node) -> Result<bool> {
        if (!fits(to, node)) return false;
        DRIFTSCOPE_CHECK(convert(to, node));
        return true;
      });
}

}  // namespace

void add_to(ModeTable& table) {
  table.add(
      {.order = 41,
       .name = "int4-matmulnbits",
       .summary = "as int4, but matrix products are ONNX Runtime's MatMulNBits, as language models have them",
       .opset = 21,
       .ir = 10,
       .layers = weighted_layers,
       .apply = apply});
}

}  // namespace driftscope::quantize::modes::matmulnbits
