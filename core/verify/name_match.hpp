// Traces whose tensors have other names than the model's values: another exporter renumbered them.
// Matched by name first, then by position and shape. Clients: the command line (reads such traces), views.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/trace/trace_view.hpp"

namespace driftscope {

struct RenamedValue {
  std::string traced;  ///< in the trace
  std::string value;   ///< in the model
};

struct NameMatch {
  /// For each tensor of the trace its name in the model; unchanged where it already matches, or where
  /// nothing fits.
  std::vector<std::string> names;
  std::vector<RenamedValue> by_position;
  std::vector<std::string> unmatched;  ///< tensors that fit no value of the model

  [[nodiscard]] bool plain() const { return by_position.empty() && unmatched.empty(); }
};

/// Between two tensors that match by name (or the ends), the others are matched in their order, dtype
/// and shape must be the value's; only if the assignment is unique. The order of the trace is
/// that of its `nodes`, else that of the file. If matched names show another order than the
/// graph's, or the trace states that it is of this very model, nothing is matched by position.
[[nodiscard]] NameMatch match_names(const Graph& graph, const TraceView& trace);

/// Gives tensors and outputs of nodes the names that were found, and nodes those of the model's nodes with
/// these outputs; notes in `run` what was matched this way ("matched_by_position", "unmatched").
void rename_values(const Graph& graph, const NameMatch& match, Trace& trace);
void rename_values(const NameMatch& match, TraceView& trace);

/// "13 values matched by position and shape (\"12\" is conv1.out, …); 2 tensors are not values of the model
/// (a, b)"; empty when there is nothing to report.
[[nodiscard]] std::string name_match_text(const NameMatch& match);
/// The same of a trace that was renamed.
[[nodiscard]] std::string name_match_text(const Trace& trace);

}  // namespace driftscope
