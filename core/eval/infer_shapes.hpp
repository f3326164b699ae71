// Types and shapes through a whole graph, by each operator's rule.
// Clients: the command line (--print-graph), engines when they prepare, verify.
#pragma once

#include <span>

#include "core/eval/operator.hpp"

namespace driftscope {

/// What the file says of values that nodes make, also inside subgraphs.
enum class Declared { believed, forgotten };

/// The graph with dtype and shape of every value filled in as far as they follow from the inputs,
/// initializers and constants. Nodes without a reference become opaque, and nothing follows from them. A
/// shape that contradicts the file's is taken and noted, another type is an error naming the node.
[[nodiscard]] Result<Graph> infer_shapes(Graph graph, Declared declared = Declared::believed);

/// The graph with its inputs bound to these concrete shapes (in the order of graph.inputs), symbolic
/// dimensions replaced everywhere, shapes inferred again. What follows from the inputs alone is known in the
/// result: where a shape depends on data, what the file declares may be wrong, and plans no memory. Errors:
/// another rank or a fixed dimension of an input that differs. One symbol bound to two sizes is noted.
[[nodiscard]] Result<Graph> bind_shapes(Graph graph, std::span<const Shape> input_shapes);

/// A bound graph with what the file declares where the rest depends on data: for those that must know every
/// shape and plan no memory of ours by it.
[[nodiscard]] Result<Graph> with_declared_shapes(Graph graph);

/// Types of a node's outputs given concrete inputs (in the order of node.reads()); complete, unless
/// the operator's output shape depends on its data, or the node has subgraphs.
[[nodiscard]] Result<std::vector<TensorType>> infer_node(const Node& node, std::span<const TensorType> inputs,
                                                         std::span<const Tensor* const> constants);

}  // namespace driftscope
