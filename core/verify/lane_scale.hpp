// Whether a normalization divided by the right deviation. All elements of a lane share it, so that an
// error of some units in the last place shows in the regression of the recorded lane on the
// correct one long before it shows in any element: a variance divided by n − 1, an epsilon outside the
// root. LayerNormalization, InstanceNormalization, GroupNormalization. Client: verify. docs/numerics.md has
// the theory.
#pragma once

#include "core/verify/derivation.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

/// Makes a layer a fault if no float32 variance of its lanes explains their slopes, and adds to a fault
/// the known mistake with such slopes. Needs everything that the node reads to be recorded, and
/// an engine that rounds to nearest.
void judge_lane_scale(LayerVerdict& layer, NodeId node, std::size_t output, const Derivation& derivation,
                      const Derived& derived, const Graph& graph, const Tensor& got, ThreadPool& threads);

}  // namespace driftscope
