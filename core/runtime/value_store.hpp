// The tensors of a run, each released after its last use. Client: NodeSession.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/graph/graph.hpp"

namespace driftscope {

class ValueStore {
 public:
  explicit ValueStore(const Graph& graph);

  /// Forgets the values of an earlier run.
  void reset();
  void put(ValueId value, Tensor tensor);
  /// Null when it is not there (omitted or released).
  [[nodiscard]] const Tensor* get(ValueId value) const;
  /// Called after `node` has run: releases values that are no longer needed.
  void node_done(NodeId node);

 private:
  const Graph& graph_;
  std::vector<NodeId> last_use_;  // per value; no_node: never released (outputs of the graph)
  std::vector<std::optional<Tensor>> tensors_;
};

}  // namespace driftscope
