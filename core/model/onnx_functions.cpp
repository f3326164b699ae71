// Functions that a model defines itself (FunctionProto; PyTorch's exporters write them): read, and inlined
// at every call, so that nothing after the reader sees them.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "core/base/text.hpp"
#include "core/model/alive_tensors.hpp"
#include "core/model/node_bytes.hpp"
#include "core/model/onnx_parts.hpp"
#include "core/model/protobuf_fields.hpp"

namespace driftscope {
namespace {

// Calls inside calls.
constexpr std::size_t max_call_depth = 64;

using GraphPointer = std::shared_ptr<const ModelGraph>;
using Names = std::unordered_map<std::string, std::string>;

/// Every name of a value in a graph and the graphs inside it.
void collect_names(const ModelGraph& graph, std::unordered_set<std::string>& names);
void collect_names(const std::vector<ModelNode>& nodes, std::unordered_set<std::string>& names) {
  for (const ModelNode& node : nodes) {
    names.insert(node.inputs.begin(), node.inputs.end());
    names.insert(node.outputs.begin(), node.outputs.end());
    for (const Attribute& attribute : node.attributes)
      if (const auto* graph = std::get_if<GraphPointer>(&attribute.value)) collect_names(**graph, names);
  }
}
void collect_names(const ModelGraph& graph, std::unordered_set<std::string>& names) {
  for (const auto& input : graph.inputs) names.insert(input.name);
  for (const auto& output : graph.outputs) names.insert(output.name);
  for (const auto& initializer : graph.initializers) names.insert(initializer.name);
  for (const auto& initializer : graph.unsupported_initializers) names.insert(initializer.name);
  collect_names(graph.nodes, names);
}

class Inliner {
 public:
  Inliner(const std::vector<ModelFunction>& functions, const Model& model)
      : model_(model), max_bytes_(std::min(max_inlined_bytes, tensor_bytes_left() / 2)) {
    collect_names(model.graph, taken_);
    for (const ModelFunction& function : functions)
      twice_ = twice_ ||
               !functions_.emplace(key(function.domain, function.name, function.overload), &function).second;
  }

  Status run(ModelGraph& graph) {
    if (twice_) return bad_input("functions: one of them is defined twice");
    DRIFTSCOPE_TRY(graph.nodes, expand(std::move(graph.nodes)));
    return {};
  }

 private:
  using Key = std::tuple<std::string, std::string, std::string>;
  static Key key(std::string domain, std::string name, std::string overload) {
    return {std::move(domain), std::move(name), std::move(overload)};
  }

  /// The context in which the body of one call is rewritten.
  struct Call {
    const ModelFunction& function;
    const ModelNode& node;
    std::string prefix;  ///< of names inside
  };

  /// Before so much is copied or made: a file of a few kilobytes can ask for gigabytes.
  Status take(std::size_t bytes) {
    made_bytes_ += static_cast<std::int64_t>(bytes);
    if (made_bytes_ <= max_bytes_) return {};
    return limit_error(fmt::format(
        "nodes and names take more than {} bytes with every call inlined, the limit (of {}, and "
        "half of what tensors may take); export the model without functions, or with shorter names",
        max_bytes_, max_inlined_bytes));
  }

  Result<std::string> fresh_name(const std::string& prefix, const std::string& name) {
    // Once each in taken_, suffixes_ and the caller's map; where it is used it counts again (rename).
    DRIFTSCOPE_CHECK(take(3 * (prefix.size() + name.size() + 2 * sizeof(std::string))));
    const std::string base = prefix + "/" + name;
    std::string made = base;
    // The next suffix is remembered: a function may be called very often with the same node name.
    while (!taken_.insert(made).second) made = fmt::format("{}_{}", base, ++suffixes_[base]);
    return made;
  }

  Result<std::vector<ModelNode>> expand(std::vector<ModelNode> nodes) {
    std::vector<ModelNode> result;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      ModelNode& node = nodes[i];
      const auto found = functions_.find(key(node.domain, node.op_type, node.overload));
      if (found == functions_.end()) {
        DRIFTSCOPE_CHECK(expand_graphs(node));
        if (!stack_.empty()) DRIFTSCOPE_CHECK(count_node());
        result.push_back(std::move(node));
        continue;
      }
      const Call call{*found->second, node,
                      node.name.empty() ? fmt::format("{}_{}", node.op_type, i) : node.name};
      auto body = expand_call(call);
      if (!body.ok()) return in_context(std::move(body).error(), "function " + in_quotes(call.function.name));
      std::move(body->begin(), body->end(), std::back_inserter(result));
    }
    return result;
  }

  /// Calls count too: nested calls of empty functions could expand without end.
  Status count_node() {
    if (++made_ <= max_inlined_nodes) return {};
    return limit_error(
        fmt::format("more than {} nodes with every call inlined, the limit", max_inlined_nodes));
  }

  Status expand_graphs(ModelNode& node) {
    for (std::size_t i = 0; i < node.attributes.size(); ++i) {
      const auto* graph = std::get_if<GraphPointer>(&node.attributes[i].value);
      if (graph == nullptr) continue;
      if (!stack_.empty()) DRIFTSCOPE_CHECK(take(static_cast<std::size_t>(bytes_of(**graph))));
      ModelGraph expanded = **graph;
      DRIFTSCOPE_TRY(expanded.nodes, expand(std::move(expanded.nodes)));
      node.attributes.edit()[i].value = std::make_shared<const ModelGraph>(std::move(expanded));
    }
    return {};
  }

  Result<std::vector<ModelNode>> expand_call(const Call& call) {
    const ModelFunction& function = call.function;
    DRIFTSCOPE_CHECK(count_node());
    if (std::find(stack_.begin(), stack_.end(), &function) != stack_.end())
      return bad_input("it calls itself");
    if (stack_.size() >= max_call_depth)
      return limit_error(fmt::format("calls inside calls beyond the limit of {}", max_call_depth));
    if (call.node.inputs.size() > function.inputs.size() ||
        call.node.outputs.size() > function.outputs.size())
      return bad_input(fmt::format("called with {} inputs and {} outputs, it has {} and {}",
                                   call.node.inputs.size(), call.node.outputs.size(), function.inputs.size(),
                                   function.outputs.size()));
    DRIFTSCOPE_CHECK(take(bytes_of_body(function)));
    Names names;
    for (std::size_t i = 0; i < function.inputs.size(); ++i) {
      const std::string given = i < call.node.inputs.size() ? call.node.inputs[i] : "";
      DRIFTSCOPE_CHECK(take(function.inputs[i].size() + given.size() + 2 * sizeof(std::string)));
      names[function.inputs[i]] = given;
    }
    std::vector<ModelNode> copies;
    for (std::size_t i = 0; i < call.node.outputs.size(); ++i) {
      const std::string& target = call.node.outputs[i];
      if (target.empty()) continue;
      const auto [entry, added] = names.emplace(function.outputs[i], target);
      // An output that is also an input, or another output: its value is copied.
      if (added) continue;
      copies.push_back(copy_node(call, entry->second, target));
      DRIFTSCOPE_CHECK(take(static_cast<std::size_t>(bytes_of(copies.back()))));
    }
    std::vector<ModelNode> body = function.nodes;
    for (ModelNode& node : body) DRIFTSCOPE_CHECK(define(node.outputs, call.prefix, names));
    for (ModelNode& node : body) DRIFTSCOPE_CHECK(rewrite(node, call, names));
    std::move(copies.begin(), copies.end(), std::back_inserter(body));
    stack_.push_back(&function);
    auto expanded = expand(std::move(body));
    stack_.pop_back();
    return expanded;
  }

  ModelNode copy_node(const Call& call, const std::string& from, const std::string& to) const {
    ModelNode node;
    node.op_type = "Identity";
    node.inputs = {from};
    node.outputs = {to};
    node.name = call.prefix + "/" + to;
    node.opset = opset_of(call, "");
    return node;
  }

  std::int64_t opset_of(const Call& call, const std::string& domain) const {
    const auto own = call.function.opsets.find(domain);
    if (own != call.function.opsets.end()) return own->second;
    const auto all = model_.opsets.find(domain);
    return all != model_.opsets.end() ? all->second : 0;
  }

  std::size_t bytes_of_body(const ModelFunction& function) {
    const auto [entry, added] = body_bytes_.emplace(&function, 0);
    if (added)
      for (const ModelNode& node : function.nodes) entry->second += static_cast<std::size_t>(bytes_of(node));
    return entry->second;
  }

  Status define(const std::vector<std::string>& defined, const std::string& prefix, Names& names) {
    for (const std::string& name : defined)
      if (!name.empty() && !names.contains(name)) {
        DRIFTSCOPE_TRY(names[name], fresh_name(prefix, name));
      }
    return {};
  }

  Status rename(std::string& name, const Names& names) {
    const auto found = names.find(name);
    if (found == names.end()) return {};
    DRIFTSCOPE_CHECK(take(found->second.size()));
    name = found->second;
    return {};
  }

  /// A node of the body with the names, attributes and opset of this call.
  Status rewrite(ModelNode& node, const Call& call, const Names& names) {
    for (std::string& name : node.inputs) {
      if (!name.empty() && !names.contains(name))
        return bad_input(fmt::format("value {} does not exist in it", in_quotes(name)));
      DRIFTSCOPE_CHECK(rename(name, names));
    }
    for (std::string& name : node.outputs) DRIFTSCOPE_CHECK(rename(name, names));
    if (!node.name.empty()) {
      DRIFTSCOPE_CHECK(take(call.prefix.size() + 1));
      node.name = call.prefix + "/" + node.name;
    }
    if (node.opset == 0) node.opset = opset_of(call, node.domain);
    std::vector<Attribute> attributes;
    for (Attribute& attribute : node.attributes.edit()) {
      if (!attribute.reference.empty()) {
        const Attribute* given = argument(call, attribute.reference);
        if (given == nullptr) continue;  // left out: the operator's own default
        DRIFTSCOPE_CHECK(take(static_cast<std::size_t>(bytes_of(given->value))));
        attribute.value = given->value;
        attribute.reference.clear();
      } else if (const auto* graph = std::get_if<GraphPointer>(&attribute.value)) {
        DRIFTSCOPE_TRY(attribute.value, rewrite_graph(**graph, call, names));
      }
      attributes.push_back(std::move(attribute));
    }
    node.attributes = std::move(attributes);
    return {};
  }

  /// Values defined inside get new names, so that none shadows a value that the call passes in.
  Result<GraphPointer> rewrite_graph(ModelGraph graph, const Call& call, Names names) {
    for (const auto& [name, renamed] : names)  // the copy of the map
      DRIFTSCOPE_CHECK(take(name.size() + renamed.size() + 2 * sizeof(std::string)));
    const auto redefine = [&](std::string& name) -> Status {
      if (name.empty()) return {};
      DRIFTSCOPE_TRY(names[name], fresh_name(call.prefix, name));
      name = names[name];
      return {};
    };
    for (auto& initializer : graph.initializers) DRIFTSCOPE_CHECK(redefine(initializer.name));
    for (auto& initializer : graph.unsupported_initializers) DRIFTSCOPE_CHECK(redefine(initializer.name));
    for (ValueInfo& input : graph.inputs) {
      const bool constant = std::any_of(graph.initializers.begin(), graph.initializers.end(),
                                        [&](const NamedTensor& initializer) {
                                          const auto known = names.find(input.name);
                                          return known != names.end() && known->second == initializer.name;
                                        });
      DRIFTSCOPE_CHECK(constant ? rename(input.name, names) : redefine(input.name));
    }
    for (ModelNode& node : graph.nodes)
      for (const std::string& name : node.outputs)
        if (!name.empty()) {
          DRIFTSCOPE_TRY(names[name], fresh_name(call.prefix, name));
        }
    for (ModelNode& node : graph.nodes) DRIFTSCOPE_CHECK(rewrite(node, call, names));
    for (ValueInfo& output : graph.outputs) DRIFTSCOPE_CHECK(rename(output.name, names));
    for (ValueInfo& info : graph.value_infos) DRIFTSCOPE_CHECK(rename(info.name, names));
    return std::make_shared<const ModelGraph>(std::move(graph));
  }

  static const Attribute* argument(const Call& call, const std::string& name) {
    for (const std::vector<Attribute>* list : {&call.node.attributes.items(), &call.function.defaults})
      for (const Attribute& attribute : *list)
        if (attribute.name == name) return &attribute;
    return nullptr;
  }

  const Model& model_;
  std::map<Key, const ModelFunction*> functions_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> suffixes_;
  std::vector<const ModelFunction*> stack_;
  std::unordered_map<const ModelFunction*, std::size_t> body_bytes_;
  std::size_t made_ = 0;
  std::int64_t made_bytes_ = 0;
  std::int64_t max_bytes_;
  bool twice_ = false;
};

/// A reference to a function's attribute, outside of any function.
Status check_references(const ModelGraph& graph) {
  for (const ModelNode& node : graph.nodes)
    for (const Attribute& attribute : node.attributes) {
      if (!attribute.reference.empty())
        return bad_input(fmt::format("node {}: attribute {} refers to {} of a function, but is not in one",
                                     in_quotes(node.name), in_quotes(attribute.name),
                                     in_quotes(attribute.reference)));
      if (const auto* inside = std::get_if<GraphPointer>(&attribute.value))
        DRIFTSCOPE_CHECK(check_references(**inside));
    }
  return {};
}

}  // namespace

Result<ModelFunction> read_function(std::string_view message, const ReadContext& context) {
  ModelFunction function;
  Status status = read_fields(message, [&](Field& field) -> Status {
    switch (field.tag()) {
      case 1: return read_name(field, function.name);
      case 4: return read_name(field, function.inputs.emplace_back());
      case 5: return read_name(field, function.outputs.emplace_back());
      case 7: {
        DRIFTSCOPE_TRY(ModelNode node, read_node(field.bytes(), function.nodes.size(), context));
        function.nodes.push_back(std::move(node));
        return {};
      }
      case 9: return read_opset(field.bytes(), function.opsets);
      case 10: return read_name(field, function.domain);
      case 11: {
        DRIFTSCOPE_TRY(Attribute attribute, read_attribute(field.bytes(), context));
        function.defaults.push_back(std::move(attribute));
        return {};
      }
      case 13: return read_name(field, function.overload);
      default: return {};
    }
  });
  if (status.ok()) status = check_opset(function.opsets);
  if (!status.ok()) return in_context(std::move(status).error(), "function " + in_quotes(function.name));
  if (function.domain == "ai.onnx") function.domain.clear();
  return function;
}

Status inline_functions(const std::vector<ModelFunction>& functions, Model& model) {
  DRIFTSCOPE_CHECK(check_references(model.graph));
  if (functions.empty()) return {};
  return Inliner(functions, model).run(model.graph);
}

}  // namespace driftscope
