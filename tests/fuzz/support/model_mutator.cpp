#include "fuzz/support/model_mutator.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/eval/operator.hpp"
#include "core/model/onnx_reader.hpp"
#include "core/model/onnx_writer.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace driftscope::fuzz {
namespace {

constexpr std::size_t max_nodes = 24;  // a run of more finds nothing that these do not

template <class List>
auto& any_of(List& list, Rng& rng) {
  return list[static_cast<std::size_t>(rng.below(list.size()))];
}

constexpr std::array<const char*, 46> attribute_names = {"axis",
                                                         "axes",
                                                         "kernel_shape",
                                                         "strides",
                                                         "pads",
                                                         "dilations",
                                                         "group",
                                                         "auto_pad",
                                                         "ceil_mode",
                                                         "keepdims",
                                                         "perm",
                                                         "alpha",
                                                         "beta",
                                                         "transA",
                                                         "transB",
                                                         "epsilon",
                                                         "mode",
                                                         "direction",
                                                         "layout",
                                                         "hidden_size",
                                                         "to",
                                                         "saturate",
                                                         "largest",
                                                         "sorted",
                                                         "k",
                                                         "blocksize",
                                                         "output_padding",
                                                         "output_shape",
                                                         "exclusive",
                                                         "reverse",
                                                         "fmod",
                                                         "num_outputs",
                                                         "split",
                                                         "batch_dims",
                                                         "reduction",
                                                         "equation",
                                                         "value",
                                                         "bias",
                                                         "size",
                                                         "p",
                                                         "align_corners",
                                                         "padding_mode",
                                                         "count_include_pad",
                                                         "coordinate_transformation_mode",
                                                         "nearest_mode",
                                                         "upper"};
constexpr std::array<const char*, 14> attribute_texts = {
    "",        "SAME_UPPER", "SAME_LOWER", "VALID",   "NOTSET", "reflect",       "edge",
    "forward", "reverse",    "linear",     "nearest", "cubic",  "bidirectional", "ij,jk->ik"};
constexpr std::array<DType, 10> common_types = {
    DType::float32, DType::int64,   DType::float32, DType::uint8,   DType::int8,
    DType::int32,   DType::boolean, DType::float16, DType::float64, DType::bfloat16};

std::int64_t any_integer(Rng& rng) {
  constexpr std::array<std::int64_t, 12> awkward = {0,
                                                    1,
                                                    -1,
                                                    2,
                                                    -2,
                                                    3,
                                                    7,
                                                    1 << 20,
                                                    std::numeric_limits<std::int32_t>::max(),
                                                    std::numeric_limits<std::int64_t>::max(),
                                                    std::numeric_limits<std::int64_t>::min(),
                                                    255};
  return rng.below(3) == 0 ? any_of(awkward, rng) : static_cast<std::int64_t>(rng.below(9)) - 3;
}

float any_float(Rng& rng) {
  constexpr std::array<float, 10> awkward = {0.0f,
                                             -0.0f,
                                             1.0f,
                                             -1.0f,
                                             0.5f,
                                             1e-40f,
                                             3e38f,
                                             std::numeric_limits<float>::infinity(),
                                             -std::numeric_limits<float>::infinity(),
                                             std::numeric_limits<float>::quiet_NaN()};
  return rng.below(3) == 0 ? any_of(awkward, rng) : rng.normal();
}

std::int64_t any_size(Rng& rng) {
  constexpr std::array<std::int64_t, 10> sizes = {0, 1, 1, 2, 2, 3, 4, 5, 8, 17};
  return any_of(sizes, rng);
}

Dimension known_size(std::int64_t size) { return {size, ""}; }

Tensor any_tensor(DType dtype, Shape shape, Rng& rng) {
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) elements = size > 0 && elements > 4096 ? 4097 : elements * size;
  if (elements > 4096 || bits_per_element(dtype) < 8) return {};
  auto tensor = Tensor::make(dtype, std::move(shape));
  if (!tensor.ok()) return {};
  const auto bytes = tensor->mutable_bytes();
  if (dtype == DType::float32) {
    for (float& value : tensor->mutable_values<float>()) value = any_float(rng);
  } else if (dtype == DType::int64) {
    for (std::int64_t& value : tensor->mutable_values<std::int64_t>()) value = any_integer(rng);
  } else if (dtype == DType::boolean) {
    for (std::byte& value : bytes) value = static_cast<std::byte>(rng.below(2));
  } else {
    for (std::byte& value : bytes) value = static_cast<std::byte>(rng.below(256));
  }
  return *std::move(tensor);
}

Shape any_shape(Rng& rng) {
  Shape shape(static_cast<std::size_t>(rng.below(5)));
  for (std::int64_t& size : shape) size = any_size(rng);
  return shape;
}

/// Names that nodes may read: of the graph's inputs, weights and what is computed.
std::vector<std::string> readable(const ModelGraph& graph) {
  std::vector<std::string> names;
  for (const ValueInfo& input : graph.inputs) names.push_back(input.name);
  for (const NamedTensor& weight : graph.initializers) names.push_back(weight.name);
  for (const ModelNode& node : graph.nodes)
    names.insert(names.end(), node.outputs.begin(), node.outputs.end());
  std::erase(names, "");
  return names;
}

std::string unused_name(const ModelGraph& graph, Rng& rng) {
  const auto names = readable(graph);
  while (true) {
    std::string name = "f" + std::to_string(rng.below(100000));
    if (std::ranges::find(names, name) == names.end()) return name;
  }
}

const Operator& any_operator(Rng& rng) {
  static const std::vector<const Operator*> all = operators().all();
  return *any_of(all, rng);
}

Attribute::Value any_value(Rng& rng) {
  const auto list = [&](auto make) {
    std::vector<decltype(make())> values(static_cast<std::size_t>(rng.below(6)));
    for (auto& value : values) value = make();
    return values;
  };
  switch (rng.below(6)) {
    case 0: return any_float(rng);
    case 1: return std::string(any_of(attribute_texts, rng));
    case 2: return list([&] { return any_integer(rng); });
    case 3: return list([&] { return any_float(rng); });
    case 4: return any_tensor(any_of(common_types, rng), any_shape(rng), rng);
    default: return any_integer(rng);
  }
}

void change_graph(ModelGraph& graph, Rng& rng, int depth);

/// Another value of the same kind.
void change_value(Attribute& attribute, Rng& rng, int depth) {
  if (rng.below(8) == 0) {
    attribute.value = any_value(rng);
  } else if (auto* integer = std::get_if<std::int64_t>(&attribute.value)) {
    *integer = rng.below(2) == 0 ? any_integer(rng) : std::int64_t(std::uint64_t(*integer) + 1);
  } else if (auto* real = std::get_if<float>(&attribute.value)) {
    *real = any_float(rng);
  } else if (auto* text = std::get_if<std::string>(&attribute.value)) {
    *text = any_of(attribute_texts, rng);
  } else if (auto* integers = std::get_if<std::vector<std::int64_t>>(&attribute.value)) {
    if (integers->empty() || rng.below(4) == 0) {
      integers->push_back(any_integer(rng));
    } else if (rng.below(4) == 0) {
      integers->pop_back();
    } else {
      any_of(*integers, rng) = any_integer(rng);
    }
  } else if (auto* tensor = std::get_if<Tensor>(&attribute.value)) {
    *tensor = any_tensor(tensor->dtype(), rng.below(2) == 0 ? tensor->shape() : any_shape(rng), rng);
  } else if (auto* body = std::get_if<std::shared_ptr<const ModelGraph>>(&attribute.value);
             body != nullptr && *body != nullptr && depth < 3) {
    auto changed = std::make_shared<ModelGraph>(**body);
    change_graph(*changed, rng, depth + 1);
    *body = std::move(changed);
  } else {
    attribute.value = any_value(rng);
  }
}

/// Attributes of the models that were mutated so far, by operator: the names that an operator understands
/// stand in no table. The same seed and corpus see the same ones.
std::map<std::string, std::vector<Attribute>>& seen_attributes() {
  static std::map<std::string, std::vector<Attribute>> seen;
  return seen;
}

void remember_attributes(const ModelGraph& graph) {
  constexpr std::size_t max_attributes = 48;
  for (const ModelNode& node : graph.nodes) {
    auto& seen = seen_attributes()[node.op_type];
    for (const Attribute& attribute : node.attributes) {
      const auto same_name = std::ranges::count(seen, attribute.name, &Attribute::name);
      if (same_name < 3 && seen.size() < max_attributes) seen.push_back(attribute);
      if (const auto* body = std::get_if<std::shared_ptr<const ModelGraph>>(&attribute.value);
          body != nullptr && *body != nullptr)
        remember_attributes(**body);
    }
  }
}

Attribute any_attribute(const ModelNode& node, Rng& rng) {
  const auto& seen = seen_attributes()[node.op_type];
  if (!seen.empty() && rng.below(4) != 0) return any_of(seen, rng);
  return {.name = any_of(attribute_names, rng), .value = any_value(rng)};
}

void change_attributes(ModelNode& node, Rng& rng, int depth) {
  const auto kind = rng.below(6);
  if (kind <= 1 || node.attributes.empty()) {
    Attribute attribute = any_attribute(node, rng);
    std::erase_if(node.attributes.edit(), [&](const Attribute& one) { return one.name == attribute.name; });
    node.attributes.push_back(std::move(attribute));
  } else if (kind == 2) {
    std::vector<Attribute>& attributes = node.attributes.edit();
    attributes.erase(attributes.begin() + static_cast<std::ptrdiff_t>(rng.below(attributes.size())));
  } else {
    change_value(any_of(node.attributes.edit(), rng), rng, depth);
  }
}

/// A number of inputs or outputs that the operator allows.
int any_count(Count count, Rng& rng) {
  if (count.max >= variadic) return std::max(1, count.min) + static_cast<int>(rng.below(3));
  return count.min + static_cast<int>(rng.below(static_cast<std::uint64_t>(count.max - count.min) + 1));
}

void add_output(ModelGraph& graph, ModelNode& node, Rng& rng) {
  std::string name = unused_name(graph, rng);
  if (std::ranges::find(node.outputs, name) != node.outputs.end()) return;
  node.outputs.push_back(name);
  graph.outputs.push_back({.name = std::move(name), .dtype = DType::undefined, .shape = {}});
}

/// One output more, left out or in another's place.
void change_outputs(ModelGraph& graph, ModelNode& node, Rng& rng) {
  switch (rng.below(3)) {
    case 0: return add_output(graph, node, rng);
    case 1:
      if (!node.outputs.empty()) {
        std::string& output = any_of(node.outputs, rng);
        std::erase_if(graph.outputs, [&](const ValueInfo& info) { return info.name == output; });
        output = "";
      }
      return;
    default:
      if (node.outputs.size() > 1) std::swap(node.outputs.front(), any_of(node.outputs, rng));
      return;
  }
}

/// What a file says of a value that a node computes, which need not be true.
void declare_value(ModelGraph& graph, Rng& rng) {
  const ModelNode& node = any_of(graph.nodes, rng);
  if (node.outputs.empty()) return;
  ValueInfo info{
      .name = any_of(node.outputs, rng), .dtype = any_of(common_types, rng), .shape = SymbolicShape{}};
  for (const std::int64_t size : any_shape(rng)) info.shape->push_back(known_size(size));
  if (rng.below(4) == 0) info.shape.reset();
  const auto output = std::ranges::find(graph.outputs, info.name, &ValueInfo::name);
  if (output != graph.outputs.end()) {
    if (rng.below(3) != 0) info.dtype = output->dtype;
    *output = std::move(info);
  } else {
    std::erase_if(graph.value_infos, [&](const ValueInfo& one) { return one.name == info.name; });
    graph.value_infos.push_back(std::move(info));
  }
}

void add_node(ModelGraph& graph, Rng& rng) {
  const auto names = readable(graph);
  if (graph.nodes.size() >= max_nodes || names.empty()) return;
  const Operator& op = any_operator(rng);
  ModelNode node;
  node.op_type = op.op_type;
  node.domain = op.domain;
  const int inputs = any_count(op.inputs, rng);
  for (int i = 0; i < inputs; ++i) node.inputs.push_back(any_of(names, rng));
  const int outputs = std::max(1, any_count(op.outputs, rng));
  for (int i = 0; i < outputs; ++i) add_output(graph, node, rng);
  graph.nodes.push_back(std::move(node));
}

void change_node(ModelGraph& graph, Rng& rng, int depth) {
  const auto names = readable(graph);
  ModelNode& node = any_of(graph.nodes, rng);
  switch (rng.below(8)) {
    case 0: {
      const Operator& op = any_operator(rng);
      node.op_type = op.op_type;
      node.domain = op.domain;
      break;
    }
    case 1:
    case 2:
      if (!node.inputs.empty() && !names.empty()) any_of(node.inputs, rng) = any_of(names, rng);
      break;
    case 3:
      if (!node.inputs.empty() && rng.below(2) == 0)
        any_of(node.inputs, rng) = rng.below(3) == 0 ? "" : node.inputs[0];
      else if (!names.empty())
        node.inputs.push_back(any_of(names, rng));
      break;
    case 4: change_outputs(graph, node, rng); break;
    default: change_attributes(node, rng, depth); break;
  }
}

void change_input(ValueInfo& input, Rng& rng) {
  if (!input.shape || rng.below(6) == 0) {
    input.dtype = any_of(common_types, rng);
  } else if (rng.below(4) == 0) {
    input.shape->insert(input.shape->begin(), known_size(any_size(rng)));
  } else if (!input.shape->empty() && rng.below(4) == 0) {
    input.shape->pop_back();
  } else if (!input.shape->empty()) {
    auto& dimension = any_of(*input.shape, rng);
    dimension = rng.below(5) == 0 ? Dimension{-1, "N"} : known_size(any_size(rng));
  }
}

void change_weight(NamedTensor& weight, Rng& rng) {
  Shape shape = weight.tensor.shape();
  DType dtype = weight.tensor.dtype();
  if (rng.below(6) == 0) dtype = any_of(common_types, rng);
  if (rng.below(3) == 0) {
    if (shape.empty())
      shape = any_shape(rng);
    else
      any_of(shape, rng) = any_size(rng);
  }
  if (rng.below(2) == 0 && dtype == weight.tensor.dtype() && shape == weight.tensor.shape() &&
      weight.tensor.byte_size() > 0 && weight.tensor.byte_size() < 65536) {
    // One element.
    auto copy = Tensor::from_bytes(dtype, shape, weight.tensor.bytes());
    const auto one = any_tensor(dtype, {1}, rng);
    if (!copy.ok() || one.byte_size() == 0 || one.dtype() != dtype) return;
    const auto place = rng.below(copy->byte_size() / one.byte_size()) * one.byte_size();
    std::memcpy(copy->mutable_bytes().data() + place, one.bytes().data(), one.byte_size());
    weight.tensor = *std::move(copy);
    return;
  }
  weight.tensor = any_tensor(dtype, std::move(shape), rng);
}

void change_graph(ModelGraph& graph, Rng& rng, int depth) {
  switch (rng.below(11)) {
    case 0: return add_node(graph, rng);
    case 1:
      if (graph.nodes.size() > 1)
        graph.nodes.erase(graph.nodes.begin() + static_cast<std::ptrdiff_t>(rng.below(graph.nodes.size())));
      return;
    case 2:
    case 3:
      if (!graph.inputs.empty()) change_input(any_of(graph.inputs, rng), rng);
      return;
    case 4:
      if (!graph.initializers.empty()) return change_weight(any_of(graph.initializers, rng), rng);
      return;
    case 5:
      // A constant in the place of an input, or the other way round.
      if (!graph.inputs.empty() && rng.below(2) == 0) {
        const std::string name = any_of(graph.inputs, rng).name;
        std::erase_if(graph.inputs, [&](const ValueInfo& input) { return input.name == name; });
        graph.initializers.push_back({name, any_tensor(any_of(common_types, rng), any_shape(rng), rng)});
      }
      return;
    case 6:
      if (!graph.nodes.empty()) declare_value(graph, rng);
      return;
    default:
      if (!graph.nodes.empty()) change_node(graph, rng, depth);
      return;
  }
}

std::size_t written(const Model& model, std::uint8_t* out, std::size_t max_size) {
  const auto bytes = write_onnx(model);
  if (!bytes.ok() || bytes->size() > max_size) return 0;
  std::memcpy(out, bytes->data(), bytes->size());
  return bytes->size();
}

std::optional<Model> as_model(const std::uint8_t* data, std::size_t size) {
  auto model = read_onnx(std::as_bytes(std::span(data, size)));
  if (!model.ok()) return std::nullopt;
  return *std::move(model);
}

}  // namespace

void mutate_model(Model& model, Rng& rng) {
  const auto changes = 1 + rng.below(4);
  for (std::uint64_t i = 0; i < changes; ++i) {
    if (rng.below(40) == 0)
      model.opsets[""] = 1 + static_cast<std::int64_t>(rng.below(22));
    else
      change_graph(model.graph, rng, 0);
  }
}

void splice_models(Model& a, const Model& b, Rng& rng) {
  const auto names = readable(a.graph);
  std::set<std::string> of_a(names.begin(), names.end());
  const auto renamed = [&](const std::string& name) {
    return name.empty() || !of_a.contains(name) ? name : "b_" + name;
  };
  const std::string joined = !names.empty() && !b.graph.inputs.empty() ? any_of(names, rng) : "";
  const std::string instead = joined.empty() ? "" : any_of(b.graph.inputs, rng).name;
  for (const ValueInfo& input : b.graph.inputs) {
    if (input.name == instead) continue;
    a.graph.inputs.push_back(input);
    a.graph.inputs.back().name = renamed(input.name);
  }
  for (const NamedTensor& weight : b.graph.initializers)
    a.graph.initializers.push_back({renamed(weight.name), weight.tensor});
  for (ModelNode node : b.graph.nodes) {
    if (a.graph.nodes.size() >= max_nodes) break;
    for (std::string& name : node.inputs) name = !instead.empty() && name == instead ? joined : renamed(name);
    for (std::string& name : node.outputs) name = renamed(name);
    if (!node.name.empty()) node.name = "b_" + node.name;
    a.graph.nodes.push_back(std::move(node));
  }
  for (ValueInfo output : b.graph.outputs) {
    output.name = renamed(output.name);
    a.graph.outputs.push_back(std::move(output));
  }
}

std::size_t mutate_onnx(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  Rng rng(seed);
  if (rng.below(8) != 0) {
    if (auto model = as_model(data, size)) {
      remember_attributes(model->graph);
      mutate_model(*model, rng);
      if (const auto length = written(*model, data, max_size)) return length;
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

std::size_t splice_onnx(const std::uint8_t* a, std::size_t a_size, const std::uint8_t* b, std::size_t b_size,
                        std::uint8_t* out, std::size_t max_size, unsigned seed) {
  Rng rng(seed);
  auto first = as_model(a, a_size);
  const auto second = as_model(b, b_size);
  if (first && second) {
    splice_models(*first, *second, rng);
    if (const auto length = written(*first, out, max_size)) return length;
  }
  const auto length = std::min(a_size, max_size);
  if (length > 0) std::memcpy(out, a, length);
  return length;
}

}  // namespace driftscope::fuzz
