// Traces whose tensors have other names than the model's values: another exporter numbered them again.
// Matched by name first, then by position and shape. Clients: the command line (reads such traces), views.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/trace/trace_view.hpp"

namespace driftscope {

struct RenamedValue {
  std::string traced;  ///< as the trace calls it
  std::string value;   ///< as the model does
};

struct NameMatch {
  /// For each tensor of the trace its name in the model; the same one where it is already that, or where
  /// nothing fits.
  std::vector<std::string> names;
  std::vector<RenamedValue> by_position;
  std::vector<std::string> unmatched;  ///< tensors that fit no value of the model

  [[nodiscard]] bool plain() const { return by_position.empty() && unmatched.empty(); }
};

/// Between two tensors that match by name (or the ends), the others are matched in their order, dtype
/// and shape being those of the value; only where there is one way to do so. The order of the trace is
/// that of its `nodes`, else that of the file; when matched names show that it is another one than the
/// graph's, or the trace says that it is of this very model, nothing is matched by position.
[[nodiscard]] NameMatch match_names(const Graph& graph, const TraceView& trace);

/// Gives tensors and outputs of nodes the names that were found, and nodes those of the model's nodes that
/// make these outputs; notes in `run` what was matched so ("matched_by_position", "strangers").
void rename_values(const Graph& graph, const NameMatch& match, Trace& trace);
void rename_values(const NameMatch& match, TraceView& trace);

/// "13 values matched by position and shape (\"12\" is conv1.out, …); 2 tensors are no values of the model
/// (a, b)"; empty when there is nothing to say.
[[nodiscard]] std::string name_match_text(const NameMatch& match);
/// The same of a trace that was renamed.
[[nodiscard]] std::string name_match_text(const Trace& trace);

}  // namespace driftscope
