// The verdict on layers with long sums of products: errors as of a lower precision, which the budgets of
// single elements hide. Client: verify.
#pragma once

#include "core/verify/derivation.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

/// What was found in a layer.
enum class LongSum {
  usual,
  rounded_inputs,  ///< a fault: the errors are those of inputs rounded to a narrow format
  large_errors,    ///< a fault or suspect, unless a known algorithm has such errors
};

/// Changes the verdict of a layer that is within its worst-case budget, and describes what a fault
/// looks like. Needs everything that the node reads to be recorded: groups are unchanged.
LongSum judge_long_sums(LayerVerdict& layer, NodeId node, std::size_t output, const Derivation& derivation,
                        const Derived& derived, const Graph& graph, const Tensor& got, ThreadPool& threads);

}  // namespace driftscope
