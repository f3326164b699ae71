// Functions of one value that have parameters, and those along the last axis.
#include "core/convert/tflite/attributes.hpp"
#include "core/convert/tflite/builder.hpp"
#include "core/convert/tflite/operator_table.hpp"

namespace driftscope::tflite::operators::activations {
namespace {

Status softmax(Builder& builder, const tf::Node& node) {
  builder.add(node, fb::BuiltinOperator::SOFTMAX,
              Builder::options(fb::CreateSoftmaxOptions(builder.tables(), 1.0F)));
  return {};
}

Status log_softmax(Builder& builder, const tf::Node& node) {
  builder.add(node, fb::BuiltinOperator::LOG_SOFTMAX, builder.default_options<fb::LogSoftmaxOptions>());
  return {};
}

Status leaky_relu(Builder& builder, const tf::Node& node) {
  const auto alpha = attribute<float>(node, "alpha", 0.2F);
  builder.add(node, fb::BuiltinOperator::LEAKY_RELU,
              Builder::options(fb::CreateLeakyReluOptions(builder.tables(), alpha)));
  return {};
}

// Not in TensorFlow's registry; named as ONNX's.
Status gelu(Builder& builder, const tf::Node& node) {
  const auto approximate = attribute<bool>(node, "approximate", false);
  builder.add(node, fb::BuiltinOperator::GELU,
              Builder::options(fb::CreateGeluOptions(builder.tables(), approximate)));
  return {};
}

Status hard_swish(Builder& builder, const tf::Node& node) {
  builder.add(node, fb::BuiltinOperator::HARD_SWISH, builder.default_options<fb::HardSwishOptions>());
  return {};
}

Status local_response_normalization(Builder& builder, const tf::Node& node) {
  const auto radius = static_cast<std::int32_t>(attribute<std::int64_t>(node, "depth_radius", 5));
  const auto made = fb::CreateLocalResponseNormalizationOptions(
      builder.tables(), radius, attribute<float>(node, "bias", 1.0F), attribute<float>(node, "alpha", 1.0F),
      attribute<float>(node, "beta", 0.5F));
  builder.add(node, fb::BuiltinOperator::LOCAL_RESPONSE_NORMALIZATION, Builder::options(made));
  return {};
}

}  // namespace

void add_to(OperatorTable& table) {
  table["Softmax"] = softmax;
  table["LogSoftmax"] = log_softmax;
  table["LeakyRelu"] = leaky_relu;
  table["Gelu"] = gelu;
  table["HardSwish"] = hard_swish;
  table["LRN"] = local_response_normalization;
}

}  // namespace driftscope::tflite::operators::activations
