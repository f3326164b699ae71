// Nodes and constants that an operator's reader makes.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/text.hpp"
#include "core/convert/place_tensor.hpp"
#include "core/convert/tflite/reader/reader.hpp"

namespace driftscope::tflite {

bool Reader::is_quantized(const std::string& tensor) const {
  const auto found = graph_.tensors.find(tensor);
  return found != graph_.tensors.end() && !found->second.quantization.scales.empty() &&
         !is_floating(found->second.dtype);
}

void Reader::make(tf::Node node, tf::TensorInfo info) {
  known_.insert(node.name);
  graph_.tensors.emplace(node.name, std::move(info));
  graph_.nodes.push_back(std::move(node));
}

std::string Reader::real(const std::string& tensor) {
  if (!is_quantized(tensor)) return tensor;
  const std::string name = fresh(tensor + "/weights");
  make({name, "Dequantize", {tensor}, {}, ""}, {DType::float32, info(tensor).shape, {}});
  return name;
}

std::string Reader::integers(const std::vector<std::int64_t>& values, bool scalar) {
  std::vector<std::int32_t> narrow(values.begin(), values.end());
  auto tensor = Tensor::from_values<std::int32_t>(
      scalar ? Shape{} : Shape{static_cast<std::int64_t>(values.size())}, narrow);
  const std::string name = fresh("constant");
  if (!tensor.ok()) return name;
  graph_.tensors.emplace(name, tf::TensorInfo{DType::int32, tensor->shape(), {}});
  graph_.constants.emplace(name, *std::move(tensor));
  known_.insert(name);
  return name;
}

Result<std::string> Reader::ordered(const std::string& tensor, const std::vector<std::size_t>& order) {
  const tf::TensorInfo about = info(tensor);
  if (about.shape.size() != order.size())
    return bad_input(fmt::format("{} has the shape {}, expected {} axes", in_quotes(tensor),
                                 shape_text(about.shape), order.size()));
  tf::TensorInfo made{DType::float32, {}, {}};
  std::vector<std::int64_t> axes;
  for (const std::size_t axis : order) {
    made.shape.push_back(about.shape[axis]);
    axes.push_back(static_cast<std::int64_t>(axis));
  }
  const auto constant = graph_.constants.find(tensor);
  const std::string name = fresh(tensor + "/ordered");
  if (constant != graph_.constants.end() && !is_quantized(tensor) && about.dtype == DType::float32) {
    DRIFTSCOPE_TRY(Tensor rewritten, convert::permuted(constant->second, order));
    graph_.tensors.emplace(name, made);
    graph_.constants.emplace(name, std::move(rewritten));
    return name;
  }
  make({name, "Transpose", {real(tensor), integers(axes)}, {}, ""}, made);
  return name;
}

Result<std::string> Reader::reshaped(const std::string& tensor, const Shape& shape) {
  const auto constant = graph_.constants.find(tensor);
  const std::string name = fresh(tensor + "/reshaped");
  if (constant != graph_.constants.end() && !is_quantized(tensor)) {
    DRIFTSCOPE_TRY(Tensor made, constant->second.reshaped(shape));
    graph_.tensors.emplace(name, tf::TensorInfo{made.dtype(), shape, {}});
    graph_.constants.emplace(name, std::move(made));
    return name;
  }
  make({name, "Reshape", {real(tensor), integers(shape)}, {}, ""}, {DType::float32, shape, {}});
  return name;
}

namespace {

std::string_view activation_name(fb::ActivationFunctionType activation) {
  switch (activation) {
    case fb::ActivationFunctionType::RELU: return "Relu";
    case fb::ActivationFunctionType::RELU_N1_TO_1: return "ReluN1To1";
    case fb::ActivationFunctionType::RELU6: return "Relu6";
    case fb::ActivationFunctionType::TANH: return "Tanh";
    default: return "";
  }
}

/// Whether an operator that broadcasts is said to give a scalar of operands with axes, as in files of
/// Chromium's WebNN: all else in the file holds for a scalar.
bool loses_axes(const ReadOperator& from, std::string_view op, const Reader& reader) {
  constexpr std::array<std::string_view, 7> broadcasting = {"Maximum", "Minimum", "AddV2", "Sub",
                                                            "Mul",     "RealDiv", "Pow"};
  if (std::ranges::find(broadcasting, op) == broadcasting.end()) return false;
  if (!reader.info(from.outputs[0]).shape.empty()) return false;
  return std::ranges::any_of(from.inputs, [&](const std::string& input) {
    return !input.empty() && !reader.info(input).shape.empty();
  });
}

}  // namespace

Status Reader::add(const ReadOperator& from, std::string_view op, std::vector<std::string> inputs) {
  const std::string& name = from.outputs[0];
  tf::Node node{name, std::string(op), std::move(inputs), from.attributes, "", from.branches};
  if (from.activation != fb::ActivationFunctionType::NONE) {
    const std::string_view activation = activation_name(from.activation);
    if (activation.empty())
      return unsupported(fmt::format("the fused activation {}", static_cast<int>(from.activation)));
    node.name = fresh(name + "/before_activation");
    const std::string before = node.name;
    make(std::move(node), {DType::float32, info(name).shape, {}});
    graph_.nodes.push_back({name, std::string(activation), {before}, {}, ""});
    return {};
  }
  if (loses_axes(from, op, *this)) {
    node.name = fresh(name + "/with_axes");
    const std::string before = node.name;
    make(std::move(node), {info(name).dtype, {1}, {}});
    graph_.nodes.push_back({name, "Reshape", {before, integers({})}, {}, ""});
    return {};
  }
  std::vector<tf::Node> copies;
  for (std::size_t i = 1; i < from.outputs.size(); ++i) {
    const std::string numbered = fmt::format("{}:{}", name, i);
    if (from.outputs[i] == numbered) continue;
    if (!read_.taken.insert(numbered))
      return unsupported(fmt::format("the name {} is taken", in_quotes(numbered)));
    graph_.tensors.emplace(numbered, info(from.outputs[i]));
    copies.push_back({from.outputs[i], "Identity", {numbered}, {}, ""});
  }
  graph_.nodes.push_back(std::move(node));
  for (tf::Node& copy : copies) graph_.nodes.push_back(std::move(copy));
  return {};
}

}  // namespace driftscope::tflite
