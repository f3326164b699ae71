// Small SVG pictures for the report: no scripts, colours from the page's CSS variables.
// Client: report.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace driftscope {

/// One line of a chart: a value per layer; NaN leaves a gap.
struct Series {
  std::string name;
  std::vector<double> values;
  std::size_t style = 0;  ///< colour and marker: the same target looks the same in every chart
};

struct ChartText {
  std::string title;
  std::string unit;     ///< at the vertical axis
  std::string caption;  ///< one sentence below
};

/// Values against layers on a logarithmic axis (zeros lie on a base line marked "0"); a horizontal
/// line at `limit` when it is positive. Each series has its own marker shape as well as its colour.
[[nodiscard]] std::string log_chart(const ChartText& text, const std::vector<std::string>& layers,
                                    const std::vector<Series>& series, double limit = 0.0);

/// A horizontal bar in a table cell, `share` in [0, 1].
[[nodiscard]] std::string bar(double share, const std::string& css_class);

}  // namespace driftscope
