// Targets of files that are opened together: stored comparisons and the traces that belong to them.
// Clients: callers that open files for the screens.
#pragma once

#include <string_view>
#include <vector>

#include "core/gui/snapshot.hpp"

namespace driftscope::gui {

/// What read_comparison reads, as the parts of a snapshot.
[[nodiscard]] Result<std::vector<TargetParts>> read_stored_targets(std::string_view json);

/// Puts what a stored comparison says of a target beside the trace of the same target; what fits none
/// is added.
void merge_targets(std::vector<TargetParts>& targets, std::vector<TargetParts> more);

}  // namespace driftscope::gui
