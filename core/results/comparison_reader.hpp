// What `compare --json` and `verify --json` wrote, read again: verdicts and metrics without tensors.
// Writers: view_json, verify_json. Clients: callers that open files for the screens.
#pragma once

#include <string_view>
#include <vector>

#include "core/results/comparison_view.hpp"

namespace driftscope {

/// driftscope-compare-1, driftscope-verify-1, or an array of the latter; the left target first, none with a
/// trace. Errors say what is missing and where.
[[nodiscard]] Result<std::vector<TargetResult>> read_comparison(std::string_view json);

}  // namespace driftscope
