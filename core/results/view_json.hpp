// A ComparisonView as the JSON of `compare --json`: driftscope-compare-1. It has all of the view but tensors
// and the records of nodes; comparison_reader.hpp reads it. Numbers as in verify_json.hpp. Clients: command
// line, service.
#pragma once

#include <string>

#include "core/results/comparison_view.hpp"

namespace driftscope {

[[nodiscard]] std::string view_json(const ComparisonView& view);

}  // namespace driftscope
