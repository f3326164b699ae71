// What `compare --json` and `verify --json` wrote, read again: verdicts and distances without tensors.
// Client: whoever opens files for the screens.
#pragma once

#include <string_view>
#include <vector>

#include "core/gui/snapshot.hpp"

namespace driftscope::gui {

/// driftscope-compare-1, driftscope-verify-1, or an array of the latter; the left target first. Errors
/// say what is missing and where.
[[nodiscard]] Result<std::vector<TargetParts>> read_stored_comparison(std::string_view json);

/// Puts what a stored comparison says of a target beside the trace of the same target; what fits none
/// is added. For files that are opened together.
void merge_targets(std::vector<TargetParts>& targets, std::vector<TargetParts> more);

}  // namespace driftscope::gui
