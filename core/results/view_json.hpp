// A ComparisonView as the JSON of `compare --json`: driftscope-compare-1, and for each target that ran
// a data set "dataset": {"samples","correct" (null without labels),"agree" (with the left target)}.
// Numbers as in verify_json.hpp; comparison_reader.hpp reads it. Clients: command line, service.
#pragma once

#include <string>

#include "core/results/comparison_view.hpp"

namespace driftscope {

/// `gate`: a JSON object to include under this name, if any.
[[nodiscard]] std::string view_json(const ComparisonView& view, const std::string& gate = "");

}  // namespace driftscope
