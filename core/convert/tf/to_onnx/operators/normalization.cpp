// Batch normalization and the normalization over neighbouring channels.
#include "core/convert/tf/to_onnx/maker.hpp"

namespace driftscope::tf::to_onnx_operators::normalization {
namespace {

using namespace to_onnx_parts;

/// [value, scale, offset, mean, variance].
Status fused(Maker& maker, const Node& node) {
  if (attribute<bool>(node, "is_training", false))
    return unsupported("a normalization in training mode is not supported");
  if (attribute<std::string>(node, "data_format", "NHWC").starts_with("NC"))
    return unsupported("data_format with channels first is not supported");
  Names inputs;
  for (std::size_t i = 0; i < 5; ++i) {
    DRIFTSCOPE_TRY(std::string one, maker.input(node, i));
    inputs.push_back(std::move(one));
  }
  inputs[0] = maker.channels_first(inputs[0]);
  maker.give_channels_last(maker.make("normalized", "BatchNormalization", std::move(inputs),
                                      {of("epsilon", attribute<float>(node, "epsilon", 1e-4f))}));
  return {};
}

/// depth_radius on both sides; alpha is not divided by the size.
Status local_response(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  const std::int64_t radius = attribute<std::int64_t>(node, "depth_radius", 5);
  if (radius < 0 || radius > 65536) return bad_input("depth_radius is out of range");
  const std::int64_t size = 2 * radius + 1;
  const float alpha = attribute<float>(node, "alpha", 1.0f) * static_cast<float>(size);
  maker.give_channels_last(
      maker.make("normalized", "LRN", {maker.channels_first(x)},
                 {of("size", size), of("alpha", alpha), of("beta", attribute<float>(node, "beta", 0.5f)),
                  of("bias", attribute<float>(node, "bias", 1.0f))}));
  return {};
}

}  // namespace

void add_to(to_onnx_parts::RuleTable& table) {
  for (const std::string_view op : {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})
    table.add(op, fused);
  table.add("LRN", local_response);
}

}  // namespace driftscope::tf::to_onnx_operators::normalization
