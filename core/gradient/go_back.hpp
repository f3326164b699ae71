// Back through a graph, in reverse topological order: from the gradients of its outputs to those of what it
// depends on. Clients: make_gradient for a model, the rule of If for its branches.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/gradient/emitter.hpp"
#include "core/graph/graph.hpp"

namespace driftscope {

struct BackwardGraph {
  const Graph& graph;               ///< with shapes as far as they are known
  ModelGraph& model;                ///< the same, which the emitter adds nodes to
  const std::vector<bool>& wanted;  ///< by value: its gradient is needed
  bool straight_through = false;
};

/// By value: the names of the gradients that its readers gave, which are to be added up.
using GradientParts = std::vector<std::vector<std::string>>;

/// What a node reads, and the initializers that its subgraphs read, which have copies of them.
[[nodiscard]] std::vector<ValueId> reads_with_weights(const Graph& graph, const Node& node);

/// By value: it is one of `wrt`, or depends on one through floating values.
[[nodiscard]] std::vector<bool> depending_on(const Graph& graph, const std::vector<ValueId>& wrt);

/// Of at least one part.
[[nodiscard]] Result<std::string> sum_of(GradientEmitter& emit, const std::vector<std::string>& parts);

/// Errors: a node without a rule, or one that its rule refuses, between the outputs and a wanted value.
[[nodiscard]] Status go_back(const BackwardGraph& through, GradientEmitter& emit, GradientParts& parts);

}  // namespace driftscope
