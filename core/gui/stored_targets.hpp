// Targets from files that are opened together: stored comparisons and the traces that belong to them.
// Clients: callers that open files for the GUI.
#pragma once

#include <string_view>
#include <vector>

#include "core/gui/snapshot.hpp"

namespace driftscope::gui {

/// The result of read_comparison, as the parts of a snapshot.
[[nodiscard]] Result<SnapshotParts> read_stored_comparison(std::string_view json);
/// Its targets alone.
[[nodiscard]] Result<std::vector<TargetParts>> read_stored_targets(std::string_view json);

/// Adds a stored comparison's results for a target to the trace of the same target; targets without a trace
/// are appended.
void merge_targets(std::vector<TargetParts>& targets, std::vector<TargetParts> more);

}  // namespace driftscope::gui
