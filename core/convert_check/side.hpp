// One of the two models of a conversion check: its graph (none for a trace made elsewhere) and what it
// computed. Clients: the rest of core/convert_check.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/trace/tensors_by_name.hpp"
#include "core/trace/trace.hpp"

namespace driftscope::convert {

/// A value that the input reaches, as it was recorded.
struct RecordedValue {
  std::string name;
  std::string node;  ///< that makes it; empty for inputs, and where the trace does not say
  std::string op;
  const Tensor* tensor = nullptr;
  bool input = false;
  bool output = false;  ///< of the graph
};

class Side {
 public:
  /// Graph, trace and names must outlive it; `graph` may be null. `own`: the values that take part, null for
  /// all (a model that was converted to ONNX has some that are not in its file).
  Side(const Graph* graph, const Trace& trace, const std::set<std::string, std::less<>>* own = nullptr);

  [[nodiscard]] const Graph* graph() const { return graph_; }
  /// In topological order; without a graph in that of the trace.
  [[nodiscard]] const std::vector<RecordedValue>& values() const { return values_; }
  [[nodiscard]] const RecordedValue* find(std::string_view name) const;

  /// What is the same in every run: an initializer, or made of nothing but such. Nothing for other values,
  /// and where it was not recorded.
  [[nodiscard]] std::optional<Tensor> constant(ValueId value) const;

  /// The nodes that make `output` from values for which `known` holds, in topological order, without those
  /// that depend on constants alone.
  template <class Known>
  [[nodiscard]] std::vector<NodeId> nodes_between(ValueId output, const Known& known) const {
    std::vector<bool> needed(graph_->nodes.size());
    std::vector<ValueId> open = {output};
    while (!open.empty()) {
      const ValueId value = open.back();
      open.pop_back();
      if (value == no_value || (value != output && known(value))) continue;
      const NodeId node = graph_->values[value].producer;
      if (node == no_node || constant_[node] || needed[node]) continue;
      needed[node] = true;
      for (const ValueId read : graph_->nodes[node].reads()) open.push_back(read);
    }
    std::vector<NodeId> nodes;
    for (NodeId node = 0; node < needed.size(); ++node)
      if (needed[node]) nodes.push_back(node);
    return nodes;
  }

 private:
  void list_graph();
  void list_trace();

  const Graph* graph_;
  const std::set<std::string, std::less<>>* own_;
  TensorsByName tensors_;
  const Trace* trace_;
  std::vector<bool> constant_;  // by node
  std::vector<RecordedValue> values_;
  std::unordered_map<std::string_view, std::size_t> places_;
};

}  // namespace driftscope::convert
