// The perturbation check: whether tracing a run changed its results. An engine that keeps every value runs
// node by node; without a trace it may fuse, fold and reorder, and round differently.
// Clients: the command line (makes the second run), views.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

struct PerturbationCheck {
  std::int64_t different_elements = 0;  ///< of all outputs of the graph together
  std::int64_t elements = 0;
  double max_ulp = 0.0;
  std::string reason;  ///< why outputs differ other than in elements: another shape

  [[nodiscard]] bool changed() const { return different_elements > 0 || !reason.empty(); }
};

/// Outputs of the graph in both traces, element by element, bits. Errors: one of them lacks an output.
[[nodiscard]] Result<PerturbationCheck> check_perturbation(const Graph& graph, const Trace& traced,
                                                           const Trace& unwatched);

/// Writes it into the trace's `run`: "observer_check": {"changed","different_elements","elements","max_ulp"},
/// and reads it again.
void add_perturbation_check(Trace& trace, const PerturbationCheck& check);
[[nodiscard]] std::optional<PerturbationCheck> perturbation_check_of(const Trace& trace);

/// "capturing changed no bit of the outputs"; empty when the trace was not checked.
[[nodiscard]] std::string perturbation_text(const Trace& trace);

}  // namespace driftscope
