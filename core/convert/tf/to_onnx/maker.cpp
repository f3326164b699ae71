#include "core/convert/tf/to_onnx/maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/text.hpp"
#include "core/convert/tf/to_onnx/result_type.hpp"
#include "core/model/indices_of.hpp"

namespace driftscope::tf::to_onnx_parts {
namespace {

ValueInfo value_info(const std::string& name, const TensorInfo* info) {
  ValueInfo made{name, DType::undefined, std::nullopt};
  if (info == nullptr) return made;
  made.dtype = info->dtype;
  SymbolicShape shape;
  for (std::size_t i = 0; i < info->shape.size(); ++i)
    shape.push_back(info->shape[i] >= 0 ? Dimension{info->shape[i], ""}
                                        : Dimension{-1, i == 0 ? "N" : fmt::format("{}_{}", name, i)});
  made.shape = std::move(shape);
  return made;
}

bool has_quantized_int16(const TfGraph& graph) {
  return std::ranges::any_of(graph.tensors,
                             [](const auto& entry) {
                               const TensorInfo& info = entry.second;
                               return info.dtype == DType::int16 && !info.quantization.scales.empty();
                             }) ||
         std::ranges::any_of(graph.nodes, [](const Node& node) {
           return std::ranges::any_of(node.branches,
                                      [](const auto& branch) { return has_quantized_int16(*branch); });
         });
}

void reserve_names(const TfGraph& graph, UniqueNames& taken) {
  for (const std::string& name : graph.inputs) taken.insert(name);
  for (const auto& [name, tensor] : graph.constants) taken.insert(name);
  for (const auto& [name, info] : graph.tensors) taken.insert(name);
  for (const Node& node : graph.nodes) {
    taken.insert(node.name);
    for (const auto& branch : node.branches) reserve_names(*branch, taken);
  }
}

}  // namespace

Maker::Maker(const TfGraph& graph) : graph_(graph) {
  const bool has_int16 = has_quantized_int16(graph);
  model_.ir_version = has_int16 ? 10 : 9;
  model_.opsets[""] = has_int16 ? opset_of_int16 : written_opset;
  model_.producer = "driftscope";
  model_.graph.name = "converted";
  for (const std::string& name : graph.inputs) model_.graph.inputs.push_back(value_info(name, info(name)));
  for (const auto& [name, tensor] : graph.constants) model_.graph.initializers.push_back({name, tensor});
  reserve_names(graph, taken_);
}

const TensorInfo* Maker::info(std::string_view tensor) const {
  const auto found = graph_.tensors.find(tensor);
  return found == graph_.tensors.end() ? nullptr : &found->second;
}

DType Maker::dtype(std::string_view tensor, DType otherwise) const {
  if (const Tensor* const known = constant(tensor)) return known->dtype();
  if (const TensorInfo* const found = info(tensor); found != nullptr && found->dtype != DType::undefined)
    return found->dtype;
  const auto type = types_.find(tensor);
  return type == types_.end() || type->second == DType::undefined ? otherwise : type->second;
}

std::optional<Shape> Maker::shape(std::string_view tensor) const {
  if (const Tensor* const known = constant(tensor)) return known->shape();
  const TensorInfo* const found = info(tensor);
  if (found == nullptr || found->dtype == DType::undefined) return std::nullopt;
  for (const std::int64_t size : found->shape)
    if (size < 0) return std::nullopt;
  return found->shape;
}

const Tensor* Maker::constant(std::string_view tensor) const {
  const auto found = graph_.constants.find(tensor);
  return found == graph_.constants.end() ? nullptr : &found->second;
}

Result<Numbers> Maker::known_integers(const Node& node, std::size_t i) const {
  if (i >= node.inputs.size()) return bad_input(fmt::format("it has no input {}", i));
  const Tensor* const known = constant(node.inputs[i]);
  if (known == nullptr)
    return unsupported(fmt::format("input {} ({}) is computed; only a constant can be converted", i,
                                   in_quotes(node.inputs[i])));
  // "To the end" is often the largest number; nothing is that long, and products of two stay in range.
  constexpr std::int64_t int32_max = std::numeric_limits<std::int32_t>::max();
  if (known->dtype() == DType::uint32) {  // Chromium's WebNN writes permutations so
    const auto values = known->values<std::uint32_t>();
    Numbers numbers(values.begin(), values.end());
    for (std::int64_t& number : numbers) number = std::min(number, int32_max);
    return numbers;
  }
  if (known->elements() > 0 && known->dtype() != DType::int32 && known->dtype() != DType::int64)
    return bad_input(fmt::format("input {} ({}): expected int32 or int64, got {}", i,
                                 in_quotes(node.inputs[i]), dtype_name(known->dtype())));
  Numbers numbers = indices_of(*known);
  for (std::int64_t& number : numbers) number = std::clamp(number, -int32_max, int32_max);
  return numbers;
}

Result<std::string> Maker::input(const Node& node, std::size_t i) const {
  if (i >= node.inputs.size() || node.inputs[i].empty())
    return bad_input(fmt::format("it has {} inputs, input {} is needed", node.inputs.size(), i));
  const auto real = real_.find(node.inputs[i]);
  return real == real_.end() ? node.inputs[i] : real->second;
}

Result<std::string> Maker::real_input(const Node& node, std::size_t i) {
  DRIFTSCOPE_TRY(std::string x, input(node, i));
  if (info(node.name) != nullptr || !is_integer(dtype(node.inputs[i]))) return x;
  return make("real", "Cast", {std::move(x)}, {of("to", static_cast<std::int64_t>(DType::float32))});
}

std::string Maker::fresh(std::string_view name) { return taken_.take(name); }

void Maker::add(std::string_view op, Names inputs, Names outputs, OnnxAttributes attributes,
                std::string name) {
  ModelNode node;
  node.name = std::move(name);
  node.op_type = op;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.attributes = std::move(attributes);
  model_.graph.nodes.push_back(std::move(node));
  ++made_;
}

std::string Maker::make(std::string_view suffix, std::string_view op, Names inputs,
                        OnnxAttributes attributes) {
  std::string name = fresh(fmt::format("{}/{}", node_->name, suffix));
  add(op, std::move(inputs), {name}, std::move(attributes), name);
  return name;
}

Names Maker::make_all(std::string_view suffix, std::string_view op, Names inputs, OnnxAttributes attributes,
                      std::size_t count) {
  Names outputs;
  for (std::size_t i = 0; i < count; ++i)
    outputs.push_back(fresh(fmt::format("{}/{}_{}", node_->name, suffix, i)));
  add(op, std::move(inputs), outputs, std::move(attributes), outputs[0]);
  return outputs;
}

std::string Maker::output_name(const Node& node, std::size_t output) const {
  return output == 0 ? node.name : fmt::format("{}:{}", node.name, output);
}

void Maker::give(std::string_view op, Names inputs, OnnxAttributes attributes, std::size_t output) {
  const std::string name = output_name(*node_, output);
  if (!is_quantized(name)) return add(op, std::move(inputs), {name}, std::move(attributes), name);
  const std::string real = make("real", op, std::move(inputs), std::move(attributes));
  quantize(real, name);
}

void Maker::give_all(std::string_view op, Names inputs, OnnxAttributes attributes, std::size_t count) {
  Names outputs;
  Names real;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = output_name(*node_, i);
    outputs.push_back(is_quantized(name) ? fresh(fmt::format("{}/real", name)) : name);
  }
  add(op, std::move(inputs), outputs, std::move(attributes), node_->name);
  for (std::size_t i = 0; i < count; ++i)
    if (const std::string name = output_name(*node_, i); outputs[i] != name) quantize(outputs[i], name);
}

Result<std::shared_ptr<const ModelGraph>> Maker::branch(const TfGraph& graph, const Names& around) {
  if (graph.inputs.size() != around.size())
    return bad_input(
        fmt::format("a branch with {} inputs, {} are given", graph.inputs.size(), around.size()));
  Maker maker(graph);
  maker.taken_ = std::move(taken_);  // no name hides one around it
  maker.inside_ = node_count();
  maker.model_.graph.inputs.clear();
  for (std::size_t i = 0; i < around.size(); ++i)
    maker.add("Identity", {around[i]}, {graph.inputs[i]}, {}, graph.inputs[i]);
  Status made = make_nodes(maker, graph);
  // ONNX Runtime takes no result that a branch does not make itself.
  if (made.ok())
    for (const std::string& name : graph.outputs) {
      std::string result = maker.fresh(name + "/result");
      maker.add("Identity", {name}, {result}, {}, result);
      maker.model_.graph.outputs.push_back({std::move(result), DType::undefined, std::nullopt});
    }
  taken_ = std::move(maker.taken_);
  inside_ = maker.node_count() - model_.graph.nodes.size();
  DRIFTSCOPE_CHECK(std::move(made));
  maker.model_.graph.name = node_->name;
  return std::make_shared<const ModelGraph>(std::move(maker.model_.graph));
}

std::string Maker::add_constant(Tensor tensor, std::string_view suffix) {
  std::string name = fresh(fmt::format("{}/{}", node_ == nullptr ? "model" : node_->name, suffix));
  model_.graph.initializers.push_back({name, std::move(tensor)});
  return name;
}

std::string Maker::integers(const Numbers& values, std::string_view suffix) {
  auto tensor = Tensor::from_values<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
  return add_constant(tensor.ok() ? *std::move(tensor) : Tensor(), suffix);
}

Result<std::string> Maker::scalar(double value, DType dtype, std::string_view suffix) {
  DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(dtype, {}));
  constexpr std::array written = {DType::float32, DType::int32, DType::int64, DType::boolean};
  if (std::ranges::find(written, dtype) == written.end())
    return unsupported(fmt::format("no number of type {} is written", dtype_name(dtype)));
  visit_plain_number(dtype, [&]<class E>() {
    using T = typename E::Stored;
    tensor.mutable_values<T>()[0] = static_cast<T>(E::kind == ElementKind::boolean ? value != 0.0 : value);
  });
  return add_constant(std::move(tensor), suffix);
}

std::string Maker::as_int64(const std::string& tensor) {
  if (const Tensor* const known = constant(tensor); known != nullptr && known->dtype() == DType::int32) {
    const auto values = indices_of(*known);
    auto made = Tensor::from_values<std::int64_t>(known->shape(), values);
    if (made.ok()) return add_constant(*std::move(made), "int64");
  }
  if (dtype(tensor, DType::undefined) == DType::int64) return tensor;
  return make("int64", "Cast", {tensor}, {of("to", static_cast<std::int64_t>(DType::int64))});
}

std::string Maker::transposed(const std::string& tensor, Numbers order, std::string_view suffix) {
  return make(suffix, "Transpose", {tensor}, {of("perm", std::move(order))});
}

namespace {

Numbers first_order(std::size_t rank) {
  Numbers order = {0, static_cast<std::int64_t>(rank) - 1};
  for (std::size_t axis = 1; axis + 1 < rank; ++axis) order.push_back(static_cast<std::int64_t>(axis));
  return order;
}

Numbers last_order(std::size_t rank) {
  Numbers order = {0};
  for (std::size_t axis = 2; axis < rank; ++axis) order.push_back(static_cast<std::int64_t>(axis));
  order.push_back(1);
  return order;
}

}  // namespace

std::string Maker::channels_first(const std::string& tensor, std::size_t rank) {
  return transposed(tensor, first_order(rank), "channels_first");
}

void Maker::give_channels_last(const std::string& tensor, std::size_t rank, std::size_t output) {
  give("Transpose", {tensor}, {of("perm", last_order(rank))}, output);
}

bool Maker::is_quantized(std::string_view tensor) const {
  if (node_ != nullptr) {
    const Rule* const rule = to_onnx_rules().find(node_->op);
    if (rule != nullptr && rule->keeps_quantized) return false;
  }
  const TensorInfo* const found = info(tensor);
  return found != nullptr && !found->quantization.scales.empty() && !is_floating(found->dtype);
}

Names Maker::scale_and_zero(const TensorInfo& info, std::string_view tensor) {
  const auto count = static_cast<std::int64_t>(info.quantization.scales.size());
  const Shape shape = count == 1 ? Shape{} : Shape{count};
  auto scales = Tensor::from_values<float>(shape, info.quantization.scales);
  auto zeros = Tensor::make(info.dtype, shape);
  if (!scales.ok() || !zeros.ok()) return {};
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t zero =
        at < info.quantization.zero_points.size() ? info.quantization.zero_points[at] : 0;
    visit_plain_integer(info.dtype, [&]<class E>() {
      using T = typename E::Stored;
      zeros->mutable_values<T>()[at] = static_cast<T>(zero);
    });
  }
  std::string scale = fresh(fmt::format("{}/scale", tensor));
  std::string zero = fresh(fmt::format("{}/zero_point", tensor));
  model_.graph.initializers.push_back({scale, *std::move(scales)});
  model_.graph.initializers.push_back({zero, *std::move(zeros)});
  return {std::move(scale), std::move(zero)};
}

std::string Maker::dequantized(const std::string& tensor) {
  const TensorInfo& about = *info(tensor);
  Names inputs = scale_and_zero(about, tensor);
  inputs.insert(inputs.begin(), tensor);
  OnnxAttributes attributes;
  if (about.quantization.scales.size() > 1) attributes.push_back(of("axis", about.quantization.axis));
  std::string name = fresh(fmt::format("{}/real", tensor));
  add("DequantizeLinear", std::move(inputs), {name}, std::move(attributes), name);
  return name;
}

void Maker::quantize(const std::string& real, const std::string& tensor) {
  const TensorInfo& about = *info(tensor);
  Names inputs = scale_and_zero(about, tensor);
  inputs.insert(inputs.begin(), real);
  OnnxAttributes attributes;
  if (about.quantization.scales.size() > 1) attributes.push_back(of("axis", about.quantization.axis));
  add("QuantizeLinear", std::move(inputs), {tensor}, std::move(attributes), tensor);
}

void Maker::begin(const Node& node) {
  node_ = &node;
  for (std::size_t output = 0; output < named_outputs; ++output)
    types_.emplace(output_name(node, output), result_type(*this, node, output));
  for (const std::string& tensor : node.inputs)
    if (is_quantized(tensor) && !real_.contains(tensor)) real_.emplace(tensor, dequantized(tensor));
  const Rule* const rule = to_onnx_rules().find(node.op);
  if (rule != nullptr && rule->keeps_quantized)
    for (const std::string& tensor : node.inputs) real_.erase(tensor);
}

Result<Model> Maker::take() {
  for (const std::string& name : graph_.outputs)
    model_.graph.outputs.push_back({name, DType::undefined, std::nullopt});
  return std::move(model_);
}

}  // namespace driftscope::tf::to_onnx_parts
