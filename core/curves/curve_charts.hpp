// What is drawn of curves: a chart for each metric and model. Clients: the page of curves, the curves view.
#pragma once

#include <string>
#include <vector>

#include "core/curves/curve.hpp"
#include "core/draw/line_chart.hpp"

namespace driftscope {

struct CurveChart {
  std::string metric;
  std::string title;  ///< "loss, lenet5"
  std::string about;  ///< what its lines and bands are; may be empty
  std::vector<ChartLine> lines;
};

/// In the order of the groups; the runs of a model share a chart, at most `most_lines_of_a_chart`: more
/// cannot be told apart.
[[nodiscard]] std::vector<CurveChart> curve_charts(const std::vector<CurveGroup>& groups);

inline constexpr std::size_t most_lines_of_a_chart = 16;
inline constexpr const char* curve_steps_title = "step or epoch";

}  // namespace driftscope
