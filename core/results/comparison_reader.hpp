// Reads the output of `compare --json` and `verify --json`: verdicts and metrics without tensors.
// Writers: view_json, verify_json. Clients: callers that open files for the GUI.
#pragma once

#include <string_view>
#include <vector>

#include "core/results/comparison_view.hpp"

namespace driftscope {

/// driftscope-compare-1, driftscope-verify-1, or an array of the latter; the left target first, without
/// traces. Errors say what is missing and where.
[[nodiscard]] Result<std::vector<TargetResult>> read_comparison(std::string_view json);

}  // namespace driftscope
