// A step of the host that makes one tensor of another. Client: graph_lowering.cpp.
#pragma once

#include <functional>
#include <memory>

#include "core/lowering/plan.hpp"

namespace driftscope::lowering {

/// It may refuse what it finds.
using HostMap = std::function<Result<Tensor>(const Tensor&)>;

[[nodiscard]] std::unique_ptr<Step> make_map_step(BufferId from, BufferId to, HostMap map);

}  // namespace driftscope::lowering
