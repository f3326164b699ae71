#include "core/graph/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "core/base/text.hpp"
#include "core/graph/legacy.hpp"
#include "core/graph/node_names.hpp"
#include "core/graph/presented_outputs.hpp"
#include "core/graph/topological_order.hpp"
#include "core/graph/without_sequences.hpp"

namespace driftscope {
namespace {

SymbolicShape symbolic(const Shape& shape) {
  SymbolicShape dimensions;
  for (const std::int64_t size : shape) dimensions.push_back({size, ""});
  return dimensions;
}

/// Names that exporters give to sizes which have nothing to do with each other.
bool is_placeholder(std::string_view symbol) {
  constexpr std::array<std::string_view, 5> names = {"?", "-1", "*", "None", "unk"};
  return std::ranges::find(names, symbol) != names.end();
}

/// Builds one graph; until nodes are ordered, `producer` of a value is an index in file order.
class Builder {
 public:
  /// `around`: the builder of the enclosing graph, null for the model's own.
  Builder(const Model& model, const ModelGraph& file, Builder* around)
      : model_(model), file_(file), around_(around), names_(unique_node_names(file_.nodes)) {}

  Result<Graph> build() {
    graph_.name = file_.name;
    if (around_ == nullptr) graph_.notes = model_.notes;
    DRIFTSCOPE_CHECK(add_initializers());
    DRIFTSCOPE_CHECK(add_inputs());
    DRIFTSCOPE_CHECK(add_node_outputs());
    add_value_infos();
    DRIFTSCOPE_CHECK(add_nodes());
    DRIFTSCOPE_CHECK(order_nodes());
    DRIFTSCOPE_CHECK(add_outputs());
    note_other_outputs();
    return std::move(graph_);
  }

  /// In the order of the built graph's `captured`: ids of the values in the enclosing graph.
  [[nodiscard]] const std::vector<ValueId>& captured_from() const { return captured_from_; }

 private:
  /// Notes of subgraphs are the model's as well.
  void note(ModelNote made) {
    if (around_ != nullptr)
      around_->note(std::move(made));
    else
      add_note(graph_.notes, std::move(made));
  }

  /// A declared shape, with unknown sizes where the file has names that stand for nothing, or negative sizes.
  std::optional<SymbolicShape> sensible(const std::string& value, std::optional<SymbolicShape> shape) {
    if (!shape) return shape;
    for (Dimension& dimension : *shape) {
      if (is_placeholder(dimension.symbol)) {
        note({.kind = NoteKind::unnamed_dimension,
              .value = value,
              .declared = dimension.symbol,
              .is = "an unknown size of its own"});
        dimension = {};
      } else if (dimension.size < -1) {
        note({.kind = NoteKind::negative_dimension,
              .value = value,
              .declared = fmt::format("{}", dimension.size),
              .is = "an unknown size"});
        dimension = {};
      }
    }
    return shape;
  }

  void note_other_outputs() {
    for (const UnsupportedTensor& output : file_.other_outputs)
      note({.kind = NoteKind::output_type,
            .value = output.name,
            .declared = output.reason,
            .is = output.reason});
  }

  Status define(Value value, const std::string& what) {
    if (value.name.empty()) return bad_input(what + ": it has no name");
    const auto id = static_cast<ValueId>(graph_.values.size());
    const auto [entry, added] = ids_.emplace(value.name, id);
    if (!added)
      return bad_input(fmt::format("{}: the name {} is already used by {}; every value needs a unique name",
                                   what, in_quotes(value.name), origin(entry->second)));
    graph_.values.push_back(std::move(value));
    return {};
  }

  /// What made a value, for messages.
  std::string origin(ValueId id) const {
    const Value& value = graph_.values[id];
    if (value.producer != no_node) return "an output of node " + in_quotes(names_[value.producer]);
    return value.constant ? "an initializer" : "a graph input";
  }

  Status add_initializers() {
    for (const NamedTensor& initializer : file_.initializers) {
      const Tensor& tensor = initializer.tensor;
      DRIFTSCOPE_CHECK(define({.name = initializer.name,
                               .dtype = tensor.dtype(),
                               .shape = symbolic(tensor.shape()),
                               .constant = tensor},
                              "initializer"));
    }
    for (const UnsupportedTensor& initializer : file_.unsupported_initializers)
      unsupported_.emplace(initializer.name, initializer.reason);
    return {};
  }

  /// Inputs that repeat an initializer (every one does in IR version 3) are constants, not inputs.
  Status add_inputs() {
    std::unordered_set<std::string> seen;
    for (const ValueInfo& input : file_.inputs) {
      if (!seen.insert(input.name).second)
        return bad_input(fmt::format("graph input {} is listed twice", in_quotes(input.name)));
      const auto known = ids_.find(input.name);
      const bool held = known != ids_.end();
      if (held || unsupported_.contains(input.name)) {
        // Before IR version 4 every initializer had to be an input.
        if (held && around_ == nullptr && model_.ir_version >= 4)
          note({.kind = NoteKind::overridable,
                .value = input.name,
                .declared = "input",
                .is = "read as a constant"});
        continue;
      }
      DRIFTSCOPE_CHECK(define({.name = input.name,
                               .dtype = input.dtype,
                               .shape = sensible(input.name, input.shape),
                               .constant = {}},
                              "graph input"));
      graph_.inputs.push_back(static_cast<ValueId>(graph_.values.size() - 1));
    }
    return {};
  }

  Status add_node_outputs() {
    for (std::size_t i = 0; i < file_.nodes.size(); ++i)
      for (const std::string& output : file_.nodes[i].outputs) {
        if (output.empty()) continue;
        DRIFTSCOPE_CHECK(
            define({.name = output, .shape = {}, .constant = {}, .producer = static_cast<NodeId>(i)},
                   "output of node " + in_quotes(names_[i])));
      }
    return {};
  }

  /// Types that the file declares for values; constants have their own.
  void add_value_infos() {
    for (const auto* list : {&file_.value_infos, &file_.outputs})
      for (const ValueInfo& info : *list) {
        const auto entry = ids_.find(info.name);
        if (entry == ids_.end()) continue;
        Value& value = graph_.values[entry->second];
        if (value.producer == no_node) continue;
        if (value.dtype == DType::undefined) value.dtype = info.dtype;
        if (!value.shape) value.shape = sensible(info.name, info.shape);
      }
  }

  /// Why this initializer, of this graph or one around it, cannot be held here; empty: it is none of those.
  std::string why_unheld(const std::string& name) const {
    if (const auto reason = unsupported_.find(name); reason != unsupported_.end())
      return fmt::format("initializer {}: {}", in_quotes(name), reason->second);
    return ids_.contains(name) || around_ == nullptr ? "" : around_->why_unheld(name);
  }

  /// The value that `who` uses under this name; one from an enclosing graph is captured.
  Result<ValueId> resolve(const std::string& name, const std::string& who) {
    const auto entry = ids_.find(name);
    if (entry != ids_.end()) return entry->second;
    if (const std::string why = why_unheld(name); !why.empty()) return unsupported(who + ": " + why);
    if (around_ != nullptr) {
      DRIFTSCOPE_TRY(const ValueId outer, around_->resolve(name, who));
      const auto id = static_cast<ValueId>(graph_.values.size());
      Value value = around_->graph_.values[outer];
      value.producer = no_node;
      if (!value.constant) {
        graph_.captured.push_back(id);
        captured_from_.push_back(outer);
      }
      graph_.values.push_back(std::move(value));
      ids_.emplace(name, id);
      return id;
    }
    return bad_input(
        fmt::format("{}: value {} does not exist: no graph input, initializer or node "
                    "output has this name",
                    who, in_quotes(name)));
  }

  /// Builds the graph of one attribute; values that it captures from here become captured values of the node.
  Status add_subgraph(const Attribute& attribute, Node& node) {
    const auto* const file = std::get_if<std::shared_ptr<const ModelGraph>>(&attribute.value);
    if (file == nullptr) return {};
    Builder inside(model_, **file, this);
    auto graph = inside.build();
    if (!graph.ok())
      return in_context(std::move(graph).error(),
                        fmt::format("node {}: {}", in_quotes(node.name), attribute.name));
    Subgraph subgraph{attribute.name, std::make_shared<const Graph>(*std::move(graph)), {}};
    for (const ValueId outer : inside.captured_from()) {
      const auto place = std::find(node.captured.begin(), node.captured.end(), outer);
      subgraph.captured.push_back(static_cast<std::size_t>(place - node.captured.begin()));
      if (place == node.captured.end()) node.captured.push_back(outer);
    }
    node.subgraphs.push_back(std::move(subgraph));
    return {};
  }

  std::int64_t opset_of(const ModelNode& node) {
    if (node.opset != 0) return node.opset;
    const auto imported = model_.opsets.find(node.domain);
    if (imported != model_.opsets.end()) return imported->second;
    // Runtimes take their newest. Of other domains nothing depends on it here.
    const std::int64_t taken = node.domain.empty() ? max_known_opset : 1;
    note({.kind = NoteKind::missing_opset, .value = node.domain, .is = fmt::format("{}", taken)});
    return taken;
  }

  Result<Node> node_of(std::size_t i) {
    ModelNode file_node = file_.nodes[i];
    const std::string who = "node " + in_quotes(names_[i]);
    if (file_node.op_type.empty()) return bad_input(who + ": it has no operator (op_type)");
    const std::int64_t version = opset_of(file_node);
    std::string opaque;
    if (const auto status = modernize(file_node, version); !status.ok()) {
      if (status.error().kind != ErrorKind::unsupported) return in_context(status.error(), who);
      opaque = who + ": " + status.error().message;
    }
    Node node{.name = names_[i],
              .op_type = file_node.op_type,
              .domain = file_node.domain,
              .inputs = {},
              .outputs = {},
              .attributes = file_node.attributes,
              .subgraphs = {},
              .captured = {}};
    node.opset = node.domain.empty() ? effective_opset(version) : version;
    std::unordered_set<std::string_view> seen;
    for (const Attribute& attribute : node.attributes)
      if (!seen.insert(attribute.name).second)
        return bad_input(fmt::format("{}: attribute {} is given twice", who, in_quotes(attribute.name)));
    for (const std::string& input : file_node.inputs) {
      ValueId id = no_value;
      const std::string why = input.empty() ? "" : why_unheld(input);
      if (!why.empty()) {
        opaque = who + ": " + why;
      } else if (!input.empty()) {
        DRIFTSCOPE_TRY(id, resolve(input, who));
      }
      node.inputs.push_back(id);
    }
    node.opaque = std::move(opaque);
    for (const std::string& output : file_node.outputs)
      node.outputs.push_back(output.empty() ? no_value : ids_.at(output));
    for (const Attribute& attribute : node.attributes) DRIFTSCOPE_CHECK(add_subgraph(attribute, node));
    return node;
  }

  Status add_nodes() {
    for (std::size_t i = 0; i < file_.nodes.size(); ++i) {
      DRIFTSCOPE_TRY(Node node, node_of(i));
      graph_.nodes.push_back(std::move(node));
    }
    return {};
  }

  Status order_nodes() {
    std::vector<std::vector<std::size_t>> dependencies(graph_.nodes.size());
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      for (const ValueId input : graph_.nodes[i].reads())
        if (input != no_value && graph_.values[input].producer != no_node)
          dependencies[i].push_back(graph_.values[input].producer);
    DRIFTSCOPE_TRY(const auto order, topological_order(dependencies, names_));
    std::vector<NodeId> place(order.size());
    std::vector<Node> ordered;
    for (const std::size_t i : order) {
      place[i] = static_cast<NodeId>(ordered.size());
      ordered.push_back(std::move(graph_.nodes[i]));
    }
    graph_.nodes = std::move(ordered);
    for (Value& value : graph_.values)
      if (value.producer != no_node) value.producer = place[value.producer];
    return {};
  }

  Status add_outputs() {
    for (const ValueInfo& output : file_.outputs) {
      DRIFTSCOPE_TRY(const ValueId id, resolve(output.name, "graph output"));
      graph_.outputs.push_back(id);
    }
    if (graph_.outputs.empty() && file_.other_outputs.empty() && around_ == nullptr)
      return bad_input("the graph has no outputs: there is nothing to run");
    return {};
  }

  const Model& model_;
  const ModelGraph& file_;
  Builder* around_;
  std::vector<ValueId> captured_from_;
  std::vector<std::string> names_;  // of the nodes, in the order of the file
  std::unordered_map<std::string, ValueId> ids_;
  std::unordered_map<std::string, std::string> unsupported_;
  Graph graph_;
};

}  // namespace

Result<Graph> build_graph(const Model& model) {
  std::vector<ModelNote> notes;
  const auto opset = model.opsets.find("");
  const std::optional<ModelGraph> of_tensors =
      without_sequences(model.graph, opset == model.opsets.end() ? max_known_opset : opset->second, notes);
  const ModelGraph& file = of_tensors ? *of_tensors : model.graph;
  const std::optional<ModelGraph> shorter = without_presentation(file, notes);
  auto graph = Builder(model, shorter ? *shorter : file, nullptr).build();
  if (graph.ok())
    for (ModelNote& note : notes) add_note(graph->notes, std::move(note));
  if (!graph.ok()) return in_context(std::move(graph).error(), "graph");
  return graph;
}

}  // namespace driftscope
