// The intermediate representation: a directed acyclic graph in topological order, names resolved to
// numbers. Made by build_graph, transformed by passes (each returns a new graph), consumed by ops,
// engines and verify. A Graph that exists is valid: see build.hpp for what that means.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/model.hpp"
#include "core/model/model_note.hpp"

namespace driftscope {

using ValueId = std::uint32_t;
using NodeId = std::uint32_t;

/// Stands for an omitted optional input or output.
inline constexpr ValueId no_value = 0xffffffffu;
inline constexpr NodeId no_node = 0xffffffffu;

/// One tensor that flows: a graph input, an initializer, or the output of a node.
struct Value {
  std::string name;
  DType dtype = DType::undefined;      ///< undefined until known
  std::optional<SymbolicShape> shape;  ///< nothing until at least the rank is known
  std::optional<Tensor> constant;      ///< initializers, and what passes have folded
  NodeId producer = no_node;           ///< no_node for inputs and initializers
  /// Of a bound graph, where the rest depends on data: what the file says, which may be wrong.
  DType declared_dtype = DType::undefined;
  std::optional<SymbolicShape> declared_shape = {};

  /// The shape when every dimension is known.
  [[nodiscard]] std::optional<Shape> static_shape() const;
};

struct Graph;

/// A graph inside a node (If, Loop, Scan).
struct Subgraph {
  std::string attribute;               ///< "then_branch", "body", …
  std::shared_ptr<const Graph> graph;  ///< never null
  /// For each of graph->captured its place in the node's `captured`.
  std::vector<std::size_t> captured;
};

struct Node {
  std::string name;  ///< never empty: "<op_type>_<index in the file>" when the file has none
  std::string op_type;
  std::string domain;
  std::int64_t opset = 0;  ///< version of the node's domain
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  SharedList<Attribute> attributes;
  std::vector<Subgraph> subgraphs;
  /// Values from the enclosing graph that its subgraphs read, each once: they must exist before it runs,
  /// but are not inputs of the operator.
  std::vector<ValueId> captured;
  /// Why nothing is known of what the node computes, in a sentence that names it: only a runtime with the
  /// operator can run it, and its outputs have no reference. Empty: the operator is known.
  std::string opaque = {};

  /// Everything that must exist before the node runs: inputs (no_value among them), then captured values.
  [[nodiscard]] std::vector<ValueId> reads() const;
  [[nodiscard]] const Attribute* attribute(std::string_view attribute_name) const;
};

struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;      ///< every producer before its consumers; file order where possible
  std::vector<ValueId> inputs;  ///< without initializers
  std::vector<ValueId> outputs;
  /// Of a subgraph: values defined in the enclosing graph (constants are copied in instead). They have no
  /// producer here.
  std::vector<ValueId> captured;
  /// Of the model's own graph: where it departs from the specification, or was read with a liberty.
  std::vector<ModelNote> notes = {};

  [[nodiscard]] std::optional<ValueId> find_value(std::string_view value_name) const;
  /// Value name, "(omitted)" for no_value.
  [[nodiscard]] std::string value_name(ValueId id) const;
};

}  // namespace driftscope
