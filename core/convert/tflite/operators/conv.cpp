// Convolutions: filters [height, width, in, out] become [out, height, width, in], those of depthwise ones
// [height, width, in, multiplier] become [1, height, width, in·multiplier]. A third input is the bias.
#include <fmt/format.h>

#include "core/convert/tflite/attributes.hpp"
#include "core/convert/tflite/operator_table.hpp"
#include "core/convert/tflite/padding.hpp"
#include "core/convert/tflite/weights.hpp"

namespace driftscope::tflite::operators::conv {
namespace {

constexpr auto no_activation = fb::ActivationFunctionType::NONE;

Result<Shape> filter_of(const Builder& builder, const tf::Node& node) {
  const Shape& shape = builder.info(node.inputs[1]).shape;
  if (shape.size() != 4)
    return unsupported(fmt::format("the filter '{}' has the shape {}, it must have rank 4", node.inputs[1],
                                   shape_text(shape)));
  return shape;
}

std::int32_t narrow(std::int64_t value) { return static_cast<std::int32_t>(value); }

Status conv2d(Builder& builder, const tf::Node& node) {
  DRIFTSCOPE_TRY(const Shape filter, filter_of(builder, node));
  DRIFTSCOPE_TRY(const Window window, window_of(node, {filter[0], filter[1]}));
  DRIFTSCOPE_TRY(const Padded padded, padded_input(builder, node, window, 0.0F));
  const std::array<std::size_t, 4> order{3, 0, 1, 2};
  DRIFTSCOPE_TRY(const TensorIndex weights, reordered(builder, node, node.inputs[1], order));
  DRIFTSCOPE_TRY(const TensorIndex bias, bias_of(builder, node, filter[3]));
  const auto made = fb::CreateConv2DOptions(builder.tables(), padded.padding, narrow(window.strides[1]),
                                            narrow(window.strides[0]), no_activation,
                                            narrow(window.dilations[1]), narrow(window.dilations[0]));
  builder.add({fb::BuiltinOperator::CONV_2D,
               {padded.input, weights, bias},
               {builder.tensor(node.name)},
               Builder::options(made)});
  return {};
}

Result<TensorIndex> depthwise_weights(Builder& builder, const tf::Node& node, const Shape& filter) {
  const Tensor* constant = builder.constant_value(node.inputs[1]);
  if (constant == nullptr)
    return unsupported(
        fmt::format("the filter '{}' of a depthwise convolution must be a constant", node.inputs[1]));
  const std::string key = node.inputs[1] + "/depthwise";
  if (const auto known = builder.derived(key)) return *known;
  DRIFTSCOPE_TRY(const Tensor flat, constant->reshaped({1, filter[0], filter[1], filter[2] * filter[3]}));
  tf::Quantization quantization = builder.info(node.inputs[1]).quantization;
  quantization.axis = 3;
  const TensorIndex made = builder.add_constant(node.inputs[1], flat, quantization);
  builder.keep_derived(key, made);
  return made;
}

Status depthwise(Builder& builder, const tf::Node& node) {
  DRIFTSCOPE_TRY(const Shape filter, filter_of(builder, node));
  DRIFTSCOPE_TRY(const Window window, window_of(node, {filter[0], filter[1]}));
  DRIFTSCOPE_TRY(const Padded padded, padded_input(builder, node, window, 0.0F));
  DRIFTSCOPE_TRY(const TensorIndex weights, depthwise_weights(builder, node, filter));
  DRIFTSCOPE_TRY(const TensorIndex bias, bias_of(builder, node, filter[2] * filter[3]));
  const auto made = fb::CreateDepthwiseConv2DOptions(
      builder.tables(), padded.padding, narrow(window.strides[1]), narrow(window.strides[0]),
      narrow(filter[3]), no_activation, narrow(window.dilations[1]), narrow(window.dilations[0]));
  builder.add({fb::BuiltinOperator::DEPTHWISE_CONV_2D,
               {padded.input, weights, bias},
               {builder.tensor(node.name)},
               Builder::options(made)});
  return {};
}

Status conv3d(Builder& builder, const tf::Node& node) {
  const auto strides = attribute<std::vector<std::int64_t>>(node, "strides", {1, 1, 1, 1, 1});
  const auto dilations = attribute<std::vector<std::int64_t>>(node, "dilations", {1, 1, 1, 1, 1});
  const auto padding = attribute<std::string>(node, "padding", "VALID");
  if (strides.size() != 5 || dilations.size() != 5 || padding == "EXPLICIT")
    return unsupported(fmt::format("a convolution of three dimensions with the padding '{}'", padding));
  const auto made =
      fb::CreateConv3DOptions(builder.tables(), padding == "SAME" ? fb::Padding::SAME : fb::Padding::VALID,
                              narrow(strides[1]), narrow(strides[3]), narrow(strides[2]), no_activation,
                              narrow(dilations[1]), narrow(dilations[3]), narrow(dilations[2]));
  builder.add(node, fb::BuiltinOperator::CONV_3D, Builder::options(made));
  return {};
}

}  // namespace

void add_to(OperatorTable& table) {
  table["Conv2D"] = conv2d;
  table["_FusedConv2D"] = conv2d;
  table["DepthwiseConv2dNative"] = depthwise;
  table["FusedDepthwiseConv2dNative"] = depthwise;
  table["Conv3D"] = conv3d;
}

}  // namespace driftscope::tflite::operators::conv
