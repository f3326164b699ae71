// Names for the nodes of a model: traces, verdicts and errors speak of nodes by name.
// Client: build_graph.
#pragma once

#include <string>
#include <vector>

#include "core/model/model.hpp"

namespace driftscope {

/// One name per node, all different. A name that the file gives stays with the first node that has
/// it; a node without one, or with one that is taken, is called "<op_type>_<index in the file>", and
/// where even that is taken "…_2" and so on.
[[nodiscard]] std::vector<std::string> unique_node_names(const std::vector<ModelNode>& nodes);

}  // namespace driftscope
