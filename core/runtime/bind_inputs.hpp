// Named input tensors → the graph with bound shapes and the inputs in its order.
// Clients: the session service, the command line. It also makes the seeded random input that is used
// when the user gives none.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"

namespace driftscope {

struct BoundInputs {
  /// Shapes bound and inferred; its notes are those that these inputs add to the model's.
  std::shared_ptr<const Graph> graph;
  std::vector<Tensor> inputs;  ///< in the order of graph->inputs
};

using NamedInputs = std::vector<NamedTensor>;

/// Errors name the input, the expected and the given dtype or shape. With a single graph input, a
/// single tensor named "" matches it. A missing leading 1 (batch) is not added: shapes must agree.
[[nodiscard]] Result<BoundInputs> bind_inputs(const Graph& graph, const NamedInputs& inputs);

/// Standard normal floats (small integers for integer types) for every graph input; symbolic
/// dimensions become 1. The same bits on every host for the same seed.
[[nodiscard]] Result<NamedInputs> seeded_inputs(const Graph& graph, std::uint64_t seed);

}  // namespace driftscope
