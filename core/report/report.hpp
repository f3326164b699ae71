// The report of one comparison: a self-contained HTML file that reads well on a phone, on paper and
// without scripts (it has none). Clients: `compare --report`.
#pragma once

#include <string>

#include "core/results/comparison_view.hpp"

namespace driftscope {

[[nodiscard]] std::string comparison_report(const ComparisonView& view);

}  // namespace driftscope
