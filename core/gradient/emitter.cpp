#include "core/gradient/emitter.hpp"

#include <fmt/format.h>

#include <cassert>

#include "core/eval/evaluated.hpp"

namespace driftscope {

namespace {

// Of the graph and of those inside it: names of values hide none of the graphs around.
void use_names(const ModelGraph& graph, UniqueNames& names) {
  for (const ModelNode& node : graph.nodes) {
    names.insert(node.name);
    for (const std::string& output : node.outputs) names.insert(output);
    for (const Attribute& attribute : node.attributes)
      if (const auto* body = std::get_if<std::shared_ptr<const ModelGraph>>(&attribute.value))
        use_names(**body, names);
  }
  for (const NamedTensor& tensor : graph.initializers) names.insert(tensor.name);
  for (const ValueInfo& input : graph.inputs) names.insert(input.name);
}

}  // namespace

GradientEmitter::GradientEmitter(ModelGraph& graph, std::int64_t opset)
    : graph_(graph), opset_(opset), names_(std::make_shared<UniqueNames>()) {
  use_names(graph, *names_);
}

GradientEmitter::GradientEmitter(ModelGraph& graph, GradientEmitter& around)
    : graph_(graph), opset_(around.opset_), around_(&around), names_(around.names_) {}

std::string GradientEmitter::node(std::string_view op, Names inputs, std::vector<Attribute> attributes) {
  return nodes(op, std::move(inputs), 1, std::move(attributes))[0];
}

GradientEmitter::Names GradientEmitter::nodes(std::string_view op, Names inputs, std::size_t outputs,
                                              std::vector<Attribute> attributes) {
  ModelNode node;
  node.name = names_->take(fmt::format("{}/{}", prefix_, op));
  node.op_type = op;
  node.inputs = std::move(inputs);
  for (std::size_t i = 0; i < outputs; ++i)
    node.outputs.push_back(
        names_->take(outputs == 1 ? node.name + ":0" : fmt::format("{}:{}", node.name, i)));
  node.attributes = std::move(attributes);
  graph_.nodes.push_back(node);
  return node.outputs;
}

void GradientEmitter::rename(const std::string& value, const std::string& name) {
  graph_.nodes.push_back({name + "/Identity", "Identity", "", {value}, {name}, {}});
}

std::string GradientEmitter::constant(const Tensor& tensor) {
  if (around_ != nullptr) return around_->constant(tensor);
  const std::string type = fmt::format("{} {}", dtype_name(tensor.dtype()), fmt::join(tensor.shape(), "x"));
  const auto bytes = tensor.bytes();
  const std::string content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::string& name = constants_[{type, content}];
  if (name.empty()) {
    name = names_->take("grad/constant");
    graph_.initializers.push_back({name, tensor});
  }
  return name;
}

std::string GradientEmitter::numbers(std::span<const double> values, Shape shape, DType dtype) {
  Evaluated<double> value;
  value.dtype = dtype;
  value.shape = std::move(shape);
  value.real.assign(values.begin(), values.end());
  const auto tensor = lower(value);
  assert(tensor.ok());  // the callers' shapes fit their numbers
  return constant(*tensor);
}

std::string GradientEmitter::scalar(double value, DType dtype) {
  return numbers(std::span(&value, 1), {}, dtype);
}

std::string GradientEmitter::ints(const Ints& values) {
  return constant(*Tensor::from_values<std::int64_t>({std::ssize(values)}, values));
}

std::string GradientEmitter::index(std::int64_t value) {
  return constant(*Tensor::from_values<std::int64_t>({}, std::span<const std::int64_t>(&value, 1)));
}

std::string GradientEmitter::cast(const std::string& x, DType dtype) {
  return node("Cast", {x}, {{"to", static_cast<std::int64_t>(dtype)}});
}

std::string GradientEmitter::transpose(const std::string& x, Ints permutation) {
  return node("Transpose", {x}, {{"perm", std::move(permutation)}});
}

std::string GradientEmitter::reshape(const std::string& x, const Ints& sizes) {
  return node("Reshape", {x, ints(sizes)});
}

std::string GradientEmitter::squeeze(const std::string& x, const Ints& axes) {
  if (axes.empty()) return x;
  if (opset_ < 13) return node("Squeeze", {x}, {{"axes", axes}});
  return node("Squeeze", {x, ints(axes)});
}

std::string GradientEmitter::unsqueeze(const std::string& x, const Ints& axes) {
  if (axes.empty()) return x;
  if (opset_ < 13) return node("Unsqueeze", {x}, {{"axes", axes}});
  return node("Unsqueeze", {x, ints(axes)});
}

std::string GradientEmitter::reduce(std::string_view op, const std::string& x, const Ints& axes, bool keep) {
  if (axes.empty()) return x;
  const Attribute keepdims{"keepdims", std::int64_t{keep ? 1 : 0}};
  if (opset_ < (op == "ReduceSum" ? 13 : 18)) return node(op, {x}, {{"axes", axes}, keepdims});
  return node(op, {x, ints(axes)}, {keepdims});
}

std::string GradientEmitter::concat(const Names& parts, std::int64_t axis) {
  if (parts.size() == 1) return parts[0];
  return node("Concat", parts, {{"axis", axis}});
}

GradientEmitter::Names GradientEmitter::split(const std::string& x, const Ints& sizes, std::int64_t axis) {
  if (sizes.size() == 1) return {x};
  if (opset_ < 13) return nodes("Split", {x}, sizes.size(), {{"axis", axis}, {"split", sizes}});
  return nodes("Split", {x, ints(sizes)}, sizes.size(), {{"axis", axis}});
}

std::string GradientEmitter::slice(const std::string& x, const Ints& starts, const Ints& ends,
                                   const Ints& axes, const Ints& steps) {
  Names inputs = {x, ints(starts), ints(ends), ints(axes)};
  if (!steps.empty()) inputs.push_back(ints(steps));
  return node("Slice", std::move(inputs));
}

std::string GradientEmitter::pad(const std::string& x, const Ints& pads, double value, DType dtype) {
  for (const std::int64_t one : pads)
    if (one != 0) return node("Pad", {x, ints(pads), scalar(value, dtype)});
  return x;
}

std::string GradientEmitter::zeros_like(const std::string& x, DType dtype) {
  Tensor zero = *Tensor::make(dtype, {1});
  return node("ConstantOfShape", {node("Shape", {x})}, {{"value", std::move(zero)}});
}

std::string GradientEmitter::or_one(const std::string& x, DType dtype) {
  return node("Where", {node("Equal", {x, scalar(0.0, dtype)}), scalar(1.0, dtype), x});
}

std::string GradientEmitter::mask(std::string_view comparison, Names inputs, DType dtype) {
  return cast(node(comparison, std::move(inputs)), dtype);
}

std::string GradientEmitter::one_hot(const std::string& indices, std::int64_t depth, DType dtype) {
  Ints all(static_cast<std::size_t>(depth));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  return mask("Equal", {unsqueeze(indices, {-1}), ints(all)}, dtype);
}

}  // namespace driftscope
