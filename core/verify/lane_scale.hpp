// Whether a normalization divided by the right deviation. All elements of a lane share it, so that a
// deviation which is off by some units in the last place shows in the slope of the recorded lane on the
// correct one long before it shows in any element: a variance divided by n − 1, an epsilon outside of the
// root. LayerNormalization, InstanceNormalization, GroupNormalization. Client: verify. docs/numerics.md has
// the theory.
#pragma once

#include "core/verify/derivation.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

/// Makes a layer a fault whose lanes have a slope that no float32 variance of these lanes explains, and says
/// of a fault which known mistake has such slopes. Needs everything that the node reads to be recorded, and
/// an engine that rounds to nearest.
void judge_lane_scale(LayerVerdict& layer, NodeId node, std::size_t output, const Derivation& derivation,
                      const Derived& derived, const Graph& graph, const Tensor& got, ThreadPool& threads);

}  // namespace driftscope
