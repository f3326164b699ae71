// float16 and bfloat16 layers whose budget is inconclusive: it allows sums in the narrow type, and where
// these have no correct digit left (a thousand terms and more) it allows everything. Such a layer is compared
// with what runtimes do instead: sums in float32, and a few roundings to the narrow type. Client: verify.
#pragma once

#include "core/verify/derivation.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

/// An unjudged layer of a narrow type between recorded tensors becomes rounding where its output is within
/// the budget of such sums, and suspect beyond it. Other layers are unchanged.
void judge_with_wide_sums(LayerVerdict& layer, NodeId node, std::size_t output, const Derivation& derivation,
                          const Graph& graph, const Tensor& got, ThreadPool& threads);

}  // namespace driftscope
