#include "core/repro/excerpt_edit.hpp"

#include <algorithm>
#include <variant>

#include "core/eval/evaluate.hpp"
#include "core/platform/platform.hpp"

namespace driftscope {

Tensor* tensor_of(Excerpt& excerpt, ValueId id) {
  Value& value = excerpt.graph.values[id];
  if (value.constant) return &*value.constant;
  const auto found = std::ranges::find(excerpt.inputs, value.name, &NamedTensor::name);
  return found == excerpt.inputs.end() ? nullptr : &found->tensor;
}

const Tensor* tensor_of(const Excerpt& excerpt, ValueId id) {
  return tensor_of(const_cast<Excerpt&>(excerpt), id);
}

std::vector<ValueId> given_values(const Excerpt& excerpt) {
  std::vector<ValueId> ids;
  for (ValueId id = 0; id < excerpt.graph.values.size(); ++id)
    if (tensor_of(excerpt, id) != nullptr) ids.push_back(id);
  return ids;
}

void set_shape(Excerpt& excerpt, ValueId id, const Shape& shape) {
  SymbolicShape sizes;
  for (const std::int64_t size : shape) sizes.push_back({size, ""});
  excerpt.graph.values[id].shape = std::move(sizes);
}

std::optional<Tensor> with_axis_of(const Tensor& tensor, std::size_t axis, std::int64_t size, bool last) {
  const std::int64_t bits = bits_per_element(tensor.dtype());
  Shape shape = tensor.shape();
  const std::int64_t before = shape[axis];
  if (bits < 8 || before == 0) return std::nullopt;
  shape[axis] = size;
  auto made = Tensor::make(tensor.dtype(), shape);
  if (!made.ok()) return std::nullopt;
  std::int64_t outer = 1;
  std::int64_t inner = bits / 8;
  for (std::size_t i = 0; i < shape.size(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : shape[i];
  const std::int64_t skipped = last && size < before ? before - size : 0;
  for (std::int64_t i = 0; i < outer; ++i)
    for (std::int64_t at = 0; at < size;) {
      const std::int64_t count = std::min(size - at, before - skipped);
      std::copy_n(tensor.bytes().data() + (i * before + skipped) * inner, count * inner,
                  made->mutable_bytes().data() + (i * size + at) * inner);
      at += count;
    }
  return *std::move(made);
}

bool follow_groups(Excerpt& excerpt, std::int64_t own, std::int64_t size) {
  bool any = false;
  for (Node& node : excerpt.graph.nodes) {
    if (node.op_type.find("Conv") == std::string::npos) continue;
    for (Attribute& attribute : node.attributes.edit()) {
      auto* const groups = std::get_if<std::int64_t>(&attribute.value);
      if (attribute.name != "group" || groups == nullptr || *groups != own) continue;
      *groups = size;
      any = true;
    }
  }
  return any;
}

bool complete(Excerpt& excerpt, ThreadPool& threads) {
  std::vector<Tensor> values(excerpt.graph.values.size());
  for (const ValueId id : given_values(excerpt)) values[id] = *tensor_of(excerpt, id);
  for (const Node& node : excerpt.graph.nodes) {
    std::vector<const Tensor*> read;
    for (const ValueId id : node.reads()) read.push_back(id == no_value ? nullptr : &values[id]);
    auto outputs = evaluate_strict(node, read, threads);
    if (!outputs.ok() || outputs->size() < node.outputs.size()) return false;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == no_value) continue;
      values[node.outputs[i]] = std::move((*outputs)[i]);
      excerpt.graph.values[node.outputs[i]].dtype = values[node.outputs[i]].dtype();
      set_shape(excerpt, node.outputs[i], values[node.outputs[i]].shape());
    }
  }
  excerpt.got.tensor = values[excerpt.graph.outputs[0]];
  return excerpt.got.tensor.elements() > 0;
}

}  // namespace driftscope
