// Changes a graph and keeps it valid; shared by the passes. Values keep their ids, so that callers that know
// the original graph can still name the remaining values; new ones are appended. Nodes are renumbered.
// Clients: the passes of this folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"

namespace driftscope {

class GraphRewriter {
 public:
  explicit GraphRewriter(Graph graph);

  /// Removed nodes stay in it until take().
  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] std::size_t node_count() const { return graph_.nodes.size(); }
  [[nodiscard]] const Node& node(NodeId id) const { return graph_.nodes[id]; }
  [[nodiscard]] bool removed(NodeId id) const { return removed_[id]; }
  [[nodiscard]] bool is_output(ValueId id) const { return is_output_[id]; }

  /// The float32 value of an initializer or constant, else null.
  [[nodiscard]] const Tensor* float_constant(ValueId id) const;
  /// The only node that reads a value, once and as an operator's input; nothing where there is none, more
  /// than one, or where the value is an output of the graph.
  [[nodiscard]] std::optional<NodeId> only_reader(ValueId id) const;

  /// Adds a constant; its name is made of `stem`.
  ValueId add_constant(Tensor tensor, const std::string& stem);
  void set_input(NodeId id, std::size_t input, ValueId value);
  /// Adds an attribute or changes it.
  void set_attribute(NodeId id, Attribute attribute);
  /// Makes this value, whose producer must have been removed, the node's first output.
  void set_output(NodeId id, ValueId value);
  /// Makes the node compute another operator, of this opset; its attributes are dropped.
  void set_operator(NodeId id, std::string op_type, std::int64_t opset);
  void remove(NodeId id);
  /// Makes every node that reads `from` (not an output of the graph) read `to`.
  void replace_reads(ValueId from, ValueId to);

  /// The graph, without the nodes that were removed.
  [[nodiscard]] Graph take();

 private:
  Graph graph_;
  std::vector<bool> removed_;
  std::vector<bool> is_output_;
  std::vector<std::vector<NodeId>> readers_;  // by value, once for each input; captured counts twice
};

}  // namespace driftscope
