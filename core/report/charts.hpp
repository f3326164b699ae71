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
  std::size_t style = 0;  ///< colour and marker: the same for a target in every chart
  bool joined = true;     ///< by a line; else each layer is a separate marker, and zeros are not drawn
  bool hollow = false;    ///< markers without filling
};

/// A layer marked by a vertical line.
struct ChartMark {
  std::size_t layer = 0;
  std::string text;
};

struct ChartText {
  std::string title;
  std::string unit;     ///< at the vertical axis
  std::string caption;  ///< one or two sentences below the title
};

/// Values against layers on a logarithmic axis (zeros lie on a base line marked "0", infinities at the
/// top); a horizontal line at `limit` when it is positive. Each series has its own marker shape as well
/// as its colour, and a text description. If there are more layers than the chart has room for,
/// a point is the worst of several, and the caption gives their number.
[[nodiscard]] std::string log_chart(const ChartText& text, const std::vector<std::string>& layers,
                                    const std::vector<Series>& series, double limit = 0.0,
                                    const std::vector<ChartMark>& marks = {});

/// A horizontal bar in a table cell, `share` in [0, 1].
[[nodiscard]] std::string bar(double share, const std::string& css_class);

}  // namespace driftscope
