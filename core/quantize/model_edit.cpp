#include "core/quantize/model_edit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "core/base/text.hpp"
#include "core/graph/node_names.hpp"

namespace driftscope::quantize {
namespace {

/// The tensor of a Constant node; nothing for its other forms.
std::optional<Tensor> constant_of(const ModelNode& node) {
  if (node.op_type != "Constant" || !node.domain.empty() || node.outputs.size() != 1) return std::nullopt;
  for (const Attribute& attribute : node.attributes)
    if (attribute.name == "value")
      if (const auto* tensor = std::get_if<Tensor>(&attribute.value)) return *tensor;
  return std::nullopt;
}

}  // namespace

std::int64_t int_of(const ModelNode& node, std::string_view attribute, std::int64_t fallback) {
  for (const Attribute& one : node.attributes)
    if (one.name == attribute)
      if (const auto* value = std::get_if<std::int64_t>(&one.value)) return *value;
  return fallback;
}

Attribute int_attribute_of(std::string name, std::int64_t value) { return {std::move(name), value}; }

Result<ModelEdit> ModelEdit::begin(Model model) {
  ModelEdit edit;
  const std::vector<std::string> names = unique_node_names(model.graph.nodes);
  std::vector<ModelNode> nodes = std::move(model.graph.nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    ModelNode& node = nodes[i];
    const auto version = model.opsets.find(node.domain);
    if (node.opset != 0 && version != model.opsets.end() && node.opset != version->second)
      return unsupported(
          fmt::format("node {}: it comes from a function written for opset {}, the model has {}; export the "
                      "model without "
                      "functions",
                      in_quotes(names[i]), node.opset, version->second));
    node.name = names[i];
    if (auto tensor = constant_of(node)) {
      model.graph.initializers.push_back({node.outputs[0], *std::move(tensor)});
      continue;
    }
    edit.nodes_.push_back(std::move(node));
  }
  edit.model_ = std::move(model);
  ModelGraph& graph = edit.model_.graph;
  for (std::size_t i = 0; i < graph.initializers.size(); ++i) {
    edit.constants_.emplace(graph.initializers[i].name, i);
    (void)edit.names_.insert(graph.initializers[i].name);
  }
  // Before IR version 4 every initializer had to be an input as well.
  std::erase_if(graph.inputs, [&](const ValueInfo& input) { return edit.constants_.contains(input.name); });
  for (const ValueInfo& input : graph.inputs) {
    (void)edit.names_.insert(input.name);
    edit.types_[input.name] = input.dtype;
  }
  for (const ValueInfo& output : graph.outputs) edit.outputs_.insert(output.name);
  for (std::size_t i = 0; i < edit.nodes_.size(); ++i) {
    const ModelNode& node = edit.nodes_[i];
    (void)edit.node_names_.insert(node.name);
    for (const std::string& output : node.outputs) {
      edit.producers_.emplace(output, i);
      (void)edit.names_.insert(output);
    }
    const auto read = [&](const std::string& name) {
      std::vector<std::size_t>& readers = edit.readers_[name];
      if (readers.empty() || readers.back() != i) readers.push_back(i);
      (void)edit.names_.insert(name);
    };
    for (const std::string& input : node.inputs)
      if (!input.empty()) read(input);
    names_inside(node, read);
  }
  edit.require_ir(4);
  return edit;
}

const Tensor* ModelEdit::constant(const std::string& value) const {
  const auto found = constants_.find(value);
  return found == constants_.end() ? nullptr : &model_.graph.initializers[found->second].tensor;
}

bool ModelEdit::is_float_activation(const std::string& value) const {
  const auto type = types_.find(value);
  return !value.empty() && !constants_.contains(value) && type != types_.end() &&
         type->second == DType::float32;
}

const std::vector<std::size_t>& ModelEdit::readers(const std::string& value) const {
  static const std::vector<std::size_t> none;
  const auto found = readers_.find(value);
  return found == readers_.end() ? none : found->second;
}

std::size_t ModelEdit::producer(const std::string& value) const {
  const auto found = producers_.find(value);
  return found == producers_.end() ? nodes_.size() : found->second;
}

std::int64_t ModelEdit::opset() const {
  const auto found = model_.opsets.find("");
  return found == model_.opsets.end() ? 0 : found->second;
}

void ModelEdit::require_opset(std::int64_t version) {
  std::int64_t& now = model_.opsets[""];
  now = std::max(now, version);
}

void ModelEdit::require_ir(std::int64_t version) { model_.ir_version = std::max(model_.ir_version, version); }

void ModelEdit::require_domain(const std::string& domain, std::int64_t version) {
  model_.opsets.emplace(domain, version);
}

std::string ModelEdit::add_constant(std::string_view wanted, Tensor tensor) {
  std::string name = names_.take(wanted);
  constants_.emplace(name, model_.graph.initializers.size());
  model_.graph.initializers.push_back({name, std::move(tensor)});
  return name;
}

std::string ModelEdit::emit(std::string op, std::string name, std::vector<std::string> inputs,
                            std::vector<Attribute> attributes, std::string output) {
  name = node_names_.take(name);
  if (output.empty()) output = names_.take(name + ".out");
  made_.push_back({.name = std::move(name),
                   .op_type = std::move(op),
                   .domain = "",
                   .inputs = std::move(inputs),
                   .outputs = {output},
                   .attributes = std::move(attributes)});
  return output;
}

Model ModelEdit::finish() && {
  ModelGraph& graph = model_.graph;
  graph.nodes = std::move(made_);
  graph.value_infos.clear();
  std::unordered_set<std::string> used(outputs_.begin(), outputs_.end());
  for (const ModelNode& node : graph.nodes) {
    used.insert(node.inputs.begin(), node.inputs.end());
    names_inside(node, [&](const std::string& name) { used.insert(name); });
  }
  std::erase_if(graph.initializers, [&](const NamedTensor& one) { return !used.contains(one.name); });
  model_.producer = "driftscope quantize";
  return std::move(model_);
}

}  // namespace driftscope::quantize
