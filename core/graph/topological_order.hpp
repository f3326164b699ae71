// The order in which nodes can run. Client: build_graph.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

/// Orders nodes so that each comes after those it depends on (`dependencies[i]`: indices, may
/// repeat), the lowest index first among those that are ready: an order that is already right stays.
/// A cycle is an error that names its nodes, by `labels`, in the direction in which data would flow.
[[nodiscard]] Result<std::vector<std::size_t>> topological_order(
    const std::vector<std::vector<std::size_t>>& dependencies, const std::vector<std::string>& labels);

}  // namespace driftscope
