// A node that XNNPACK does not run, by the strict engine's kernel for it: the fast one where there is
// one, else the plain one. Client: the lowering.
#pragma once

#include <memory>

#include "core/lowering/plan.hpp"
#include "core/engines/strict/kernel_table.hpp"

namespace driftscope::fast {

/// What the strict kernels of a session share; outlives them.
struct StrictResources {
  SimdTarget simd;
  ThreadPool threads;
};

/// `reads` in the order of node.reads() (no_buffer: omitted), `writes`: slots in the order of
/// node.outputs. The graph and its node must outlive the step.
[[nodiscard]] Result<std::unique_ptr<Step>> make_strict_step(const Graph& graph, const Node& node,
                                                             StrictResources& resources,
                                                             std::vector<BufferId> reads,
                                                             std::vector<BufferId> writes);

}  // namespace driftscope::fast
