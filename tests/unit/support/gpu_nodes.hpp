// Random nodes of the operators that GPU engines run: attributes, operands, constant or not, and what may be
// fused behind them. Client: gpu_variants.
#pragma once

#include <memory>
#include <string>

#include "core/base/rng.hpp"
#include "core/graph/graph.hpp"

namespace driftscope::test {

/// One node, and what follows it, with sizes bound; `op` as in the engines' table, "com.microsoft.BiasGelu".
/// Null where the random node is not a valid one.
[[nodiscard]] std::shared_ptr<const Graph> random_gpu_graph(const std::string& op, Rng& rng);

}  // namespace driftscope::test
