// Whether a layer beyond its budget is what a known algorithm's own error explains. The chance of
// excusing a real fault is kept small in three ways:
// - nothing is tried before the layer is outside of the budget, and a result that is a known algorithm's
//   is said to be, with its name;
// - an algorithm that only changes the accuracy of functions, ÷ or √, and another reading of the
//   specification, have bounds of their own, which every element must keep;
// - one with other errors (Winograd, Fourier) is run in float32 on the layer's own inputs, and the
//   layer's errors must be as small as those, channel by channel, in their mean square and at their
//   largest: a fault in one channel, one border or one element stands out from them.
// Clients: verify.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/verify/derivation.hpp"
#include "core/verify/verify_element.hpp"

namespace driftscope {

/// What is known of the run. `named`: the ids that the trace says it used; empty when it says nothing, then
/// all are tried. `may_flush`: whether algorithms are that flush results.
struct AlgorithmChoice {
  std::vector<std::string> named;
  bool may_flush = false;
};

/// `use`: the largest error as a share of what the algorithm may do.
struct AlgorithmMatch {
  std::string name;
  BudgetUse use;
};

/// The first known algorithm of output `output` of `node` that explains `got`. Needs everything that the node
/// reads to be recorded: nothing for fused groups.
[[nodiscard]] std::optional<AlgorithmMatch> match_known_algorithm(
    const Graph& graph, NodeId node, std::size_t output, const Derivation& derivation, const Derived& derived,
    const Tensor& got, const AlgorithmChoice& choice, ThreadPool& threads);

/// What a trace's run says in "algorithms", a list of ids or one.
[[nodiscard]] std::vector<std::string> algorithms_named_in(const Trace& trace);

}  // namespace driftscope
