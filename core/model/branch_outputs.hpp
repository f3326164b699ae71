// Makes values inside the branches of an If readable: the same bytes with more outputs of the branches, and
// so of the If. The branch that is not taken gives empty tensors in their place. All else is unchanged.
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
struct BranchOutput {
  std::string value;   ///< made by a node of the branch
  std::string output;  ///< its name as an output of the graph; with a suffix where it passes other graphs
  DType dtype = DType::undefined;
};

struct IfOutputs;

struct BranchOutputs {
  std::string attribute;  ///< "then_branch" or "else_branch"
  std::vector<BranchOutput> outputs;
  std::vector<IfOutputs> inside;
};

struct IfOutputs {
  std::string made;    ///< the first value that the If makes: names of nodes need not be unique
  std::string marker;  ///< an output that says which branch ran: an int64, 1 for "then", 0 for "else"
  std::vector<BranchOutputs> branches;
};

/// Every output of `ifs`, markers included, as the graph's.
[[nodiscard]] std::vector<std::string> names_of(std::span<const IfOutputs> ifs);

/// ModelProto in which the Ifs make these outputs besides their own. They are not yet outputs of the graph
/// (with_graph_outputs). What the file does not hold, an If or a value, is taken out of `ifs`. Errors:
/// damaged bytes, no graph, beyond max_protobuf_bytes.
[[nodiscard]] Result<std::vector<std::byte>> with_branch_outputs(std::span<const std::byte> model,
                                                                 std::vector<IfOutputs>& ifs);

}  // namespace driftscope
