// A Model on its way to a quantized one: nodes are visited in their order and emitted again, changed or not,
// with new ones around them; constants are replaced. Client: the modes. It knows no quantization.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/unique_names.hpp"
#include "core/model/model.hpp"

namespace driftscope::quantize {

[[nodiscard]] std::int64_t int_of(const ModelNode& node, std::string_view attribute, std::int64_t fallback);
[[nodiscard]] Attribute int_attribute_of(std::string name, std::int64_t value);

class ModelEdit {
 public:
  /// Every node gets the name that its graph has; tensors of Constant nodes become initializers. Errors:
  /// nodes of functions that were written for another opset.
  [[nodiscard]] static Result<ModelEdit> begin(Model model);

  /// As the model was when the edit began.
  [[nodiscard]] const std::vector<ModelNode>& nodes() const { return nodes_; }
  /// Null: no node, input or initializer makes such a constant.
  [[nodiscard]] const Tensor* constant(const std::string& value) const;
  /// float32 and not constant, as far as the model says or shows.
  [[nodiscard]] bool is_float_activation(const std::string& value) const;
  [[nodiscard]] bool is_output(const std::string& value) const { return outputs_.contains(value); }
  /// Indices of the nodes that read a value, each once; a subgraph that reads it counts as its node.
  [[nodiscard]] const std::vector<std::size_t>& readers(const std::string& value) const;
  /// Index of the node that makes it; the number of nodes: none.
  [[nodiscard]] std::size_t producer(const std::string& value) const;
  [[nodiscard]] std::int64_t opset() const;
  void require_opset(std::int64_t version);
  void require_ir(std::int64_t version);
  /// An import of another domain than ONNX's; a version that the model has already stays.
  void require_domain(const std::string& domain, std::int64_t version);
  [[nodiscard]] const Model& model() const { return model_; }

  /// Floating point of values that are known; made by infer_shapes.
  void set_types(std::map<std::string, DType> types) { types_ = std::move(types); }

  /// A value name that nothing has yet.
  [[nodiscard]] std::string fresh(std::string_view wanted) { return names_.take(wanted); }
  /// Adds an initializer and returns its name, `wanted` or with a number behind it.
  std::string add_constant(std::string_view wanted, Tensor tensor);
  void emit(ModelNode node) { made_.push_back(std::move(node)); }
  /// A node of ONNX's own domain with one output, whose name (of both) is made from `name`; returns the
  /// output.
  std::string emit(std::string op, std::string name, std::vector<std::string> inputs,
                   std::vector<Attribute> attributes = {}, std::string output = {});
  /// Graph inputs and outputs keep their types; of inner values what the file declares is dropped.
  [[nodiscard]] Model finish() &&;

 private:
  Model model_;
  std::vector<ModelNode> nodes_;
  std::vector<ModelNode> made_;
  std::unordered_map<std::string, std::size_t> constants_;  // places in model_.graph.initializers
  std::unordered_map<std::string, std::vector<std::size_t>> readers_;
  std::unordered_map<std::string, std::size_t> producers_;
  std::set<std::string> outputs_;
  std::map<std::string, DType> types_;
  UniqueNames names_;
  UniqueNames node_names_;
};

/// Calls see(name) for every value that the node's subgraphs read or define.
template <class See>
void names_inside(const ModelNode& node, const See& see) {
  const auto graph = [&](const ModelGraph& inner) {
    for (const ModelNode& one : inner.nodes) {
      for (const std::string& name : one.inputs) see(name);
      for (const std::string& name : one.outputs) see(name);
      names_inside(one, see);
    }
    for (const ValueInfo& output : inner.outputs) see(output.name);
    for (const NamedTensor& one : inner.initializers) see(one.name);
  };
  for (const Attribute& attribute : node.attributes) {
    if (const auto* one = std::get_if<std::shared_ptr<const ModelGraph>>(&attribute.value)) graph(**one);
    if (const auto* all = std::get_if<std::vector<std::shared_ptr<const ModelGraph>>>(&attribute.value))
      for (const auto& one : *all) graph(*one);
  }
}

}  // namespace driftscope::quantize
