// Whether the errors of a known algorithm explain a layer beyond its budget. The chance of
// excusing a real fault is kept small in three ways:
// - nothing is tried unless the layer exceeds its budget, and a result explained by a known algorithm
//   is reported with the algorithm's name;
// - an algorithm that only changes the accuracy of functions, ÷ or √, or another reading of the
//   specification, has its own bounds, which every element must meet;
// - one with other errors (Winograd, Fourier) is run in float32 on the layer's own inputs, and the
//   layer's errors must be as small as its errors, channel by channel, in their mean square and at their
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

/// What is known of the run. `named`: the ids of algorithms that the trace names; if empty,
/// all are tried. `may_flush`: whether to try algorithms that flush results.
struct AlgorithmChoice {
  std::vector<std::string> named;
  bool may_flush = false;
};

/// `use`: the largest error as a share of the algorithm's allowance.
struct AlgorithmMatch {
  std::string name;
  BudgetUse use;
};

/// The first known algorithm of output `output` of `node` that explains `got`. Needs everything that the node
/// reads to be recorded: nothing for fused groups.
[[nodiscard]] std::optional<AlgorithmMatch> match_known_algorithm(
    const Graph& graph, NodeId node, std::size_t output, const Derivation& derivation, const Derived& derived,
    const Tensor& got, const AlgorithmChoice& choice, ThreadPool& threads);

/// The list "algorithms" of a trace's run; a single id is allowed as well.
[[nodiscard]] std::vector<std::string> algorithms_named_in(const Trace& trace);

}  // namespace driftscope
