#include "core/convert/tflite/weights.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/convert/place_tensor.hpp"

namespace driftscope::tflite {
namespace {

tf::TensorInfo reordered_info(const tf::TensorInfo& info, std::span<const std::size_t> order) {
  tf::TensorInfo made{info.dtype, {}, info.quantization};
  for (std::size_t i = 0; i < order.size(); ++i) {
    made.shape.push_back(info.shape[order[i]]);
    if (static_cast<std::int64_t>(order[i]) == info.quantization.axis)
      made.quantization.axis = static_cast<std::int64_t>(i);
  }
  return made;
}

}  // namespace

Result<TensorIndex> reordered(Builder& builder, const tf::Node& node, const std::string& value,
                              std::span<const std::size_t> order) {
  const tf::TensorInfo& info = builder.info(value);
  const Tensor* constant = builder.constant_value(value);
  const std::size_t rank = constant != nullptr ? constant->shape().size() : info.shape.size();
  if (rank != order.size())
    return unsupported(fmt::format("'{}' has rank {}, expected {}", value, rank, order.size()));
  std::string key = value;
  for (const std::size_t axis : order) key += fmt::format("/{}", axis);
  if (const auto known = builder.derived(key)) return *known;
  TensorIndex made = no_tensor;
  if (constant != nullptr) {
    DRIFTSCOPE_TRY(const Tensor moved, convert::permuted(*constant, {order.begin(), order.end()}));
    made = builder.add_constant(value, moved, reordered_info(info, order).quantization);
  } else {
    made = builder.add_computed(value + "/reordered", reordered_info(info, order));
    const TensorIndex axes =
        builder.add_indices(node.name + "/order", std::vector<std::int32_t>(order.begin(), order.end()));
    builder.add({fb::BuiltinOperator::TRANSPOSE,
                 {builder.tensor(value), axes},
                 {made},
                 builder.default_options<fb::TransposeOptions>()});
  }
  builder.keep_derived(std::move(key), made);
  return made;
}

Result<TensorIndex> bias_of(Builder& builder, const tf::Node& node, std::int64_t channels) {
  if (node.inputs.size() > 2) {
    const std::string& bias = node.inputs[2];
    const Shape& shape = builder.info(bias).shape;
    if (shape != Shape{channels})
      return unsupported(
          fmt::format("the bias '{}' has the shape {}, it must be {}", bias, shape_text(shape), channels));
    return builder.tensor(bias);
  }
  const tf::TensorInfo& result = builder.info(node.name);
  const bool quantized = !result.quantization.scales.empty();
  DRIFTSCOPE_TRY(const Tensor zeros,
                 Tensor::make(quantized ? DType::int32 : result.dtype, {channels}, "a bias of zeros"));
  tf::Quantization quantization;
  if (quantized) {  // that of the products
    const float scale = builder.info(node.inputs[0]).quantization.scales.at(0);
    for (const float weight : builder.info(node.inputs[1]).quantization.scales) {
      quantization.scales.push_back(scale * weight);
      quantization.zero_points.push_back(0);
    }
  }
  return builder.add_constant(node.name + "/bias", zeros, quantization);
}

}  // namespace driftscope::tflite
