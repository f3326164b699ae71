// One recorded output against its reference: the verdict of a layer. Client: verify.
#pragma once

#include "core/verify/bias.hpp"
#include "core/verify/derivation.hpp"
#include "core/verify/group_estimate.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

/// `got` is what the trace holds for output number `output` of `node`. The error model of the current
/// scope applies.
[[nodiscard]] LayerVerdict verify_layer(const Graph& graph, NodeId node, std::size_t output,
                                        const Derived& derived, const Tensor& got, const BiasWitness& witness,
                                        const GroupWitness& group, ThreadPool& threads);

}  // namespace driftscope
