// Makes values inside If, Loop and Scan readable: the same bytes with more outputs of the subgraphs, and so
// of the nodes around them. Of an If the branch that is not taken gives empty tensors in their place; of a
// loop they are the values of all iterations, stacked along a new first axis. All else is unchanged.
// Client: engines/peer.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/dtype.hpp"

namespace driftscope {

/// A value that becomes an output.
struct InsideValue {
  std::string value;   ///< made by a node of the subgraph
  std::string output;  ///< its name as an output of the graph; with a suffix where it passes other graphs
  DType dtype = DType::undefined;
};

struct InsideOutputs;

struct SubgraphOutputs {
  std::string attribute;  ///< "then_branch", "else_branch", "body"
  std::vector<InsideValue> outputs;
  std::vector<InsideOutputs> inside;  ///< empty in the body of a loop
};

/// Those of one If, Loop or Scan.
struct InsideOutputs {
  std::string made;  ///< the first value that the node makes: names of nodes need not be unique
  /// An output that says what ran: of an If an int64, 1 for "then", 0 for "else"; of a loop as many as there
  /// were iterations.
  std::string marker;
  std::vector<SubgraphOutputs> subgraphs;
};

/// Every output of `nodes`, markers included, as the graph's.
[[nodiscard]] std::vector<std::string> names_of(std::span<const InsideOutputs> nodes);

/// ModelProto in which the nodes make these outputs besides their own. They are not yet outputs of the graph
/// (with_graph_outputs). What the file does not hold, a node or a value, is taken out of `nodes`. Errors:
/// damaged bytes, no graph, beyond max_protobuf_bytes.
[[nodiscard]] Result<std::vector<std::byte>> with_inside_outputs(std::span<const std::byte> model,
                                                                 std::vector<InsideOutputs>& nodes);

}  // namespace driftscope
