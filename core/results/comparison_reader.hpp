// Reads the output of `compare --json` and `verify --json` into the view that it was written of, without
// tensors and the records of nodes. Writers: view_json, verify_json: what was read is written the same again.
// Clients: callers that open files for the GUI.
#pragma once

#include <string_view>

#include "core/results/comparison_view.hpp"

namespace driftscope {

/// driftscope-compare-1, driftscope-verify-1, or an array of the latter, whose first is the left target. Keys
/// that are not known are ignored; errors say where what is wrong, what was expected and what is there.
[[nodiscard]] Result<ComparisonView> read_comparison(std::string_view json);

}  // namespace driftscope
