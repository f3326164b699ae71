// Curves as one self-contained HTML page without scripts: a chart for each metric, where curves end, how
// runs differ. Client: the command `curves`.
#pragma once

#include <string>
#include <vector>

#include "core/curves/compare_curves.hpp"

namespace driftscope {

struct CurvesPage {
  std::string title;
  const std::vector<CurveGroup>& groups;
  const std::vector<documents::CurveSummary>& summaries;
  const std::vector<documents::CurveComparison>& comparisons;
  const std::vector<std::string>& notes;
};

[[nodiscard]] std::string curves_page(const CurvesPage& page);

}  // namespace driftscope
