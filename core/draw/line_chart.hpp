// Lines over steps, with a band from the least to the largest of repetitions: training curves.
// Client: the page of curves.
#pragma once

#include <string>
#include <vector>

#include "core/draw/painter.hpp"
#include "core/draw/theme.hpp"

namespace driftscope {

struct ChartLine {
  std::string label;
  std::size_t series = 0;         ///< its colour
  std::vector<double> x;          ///< ascending
  std::vector<double> y;          ///< as many; not finite: the line is interrupted
  std::vector<double> low, high;  ///< as many, or empty: no band
};

struct LineChart {
  Box box;
  std::string x_title;
  /// Where all values are above 0 and span more than two decades, or always not.
  bool may_be_logarithmic = true;
};

/// Whether the chart will be: for a caption.
[[nodiscard]] bool is_logarithmic(const LineChart& chart, const std::vector<ChartLine>& lines);

/// With axes; of no finite value only the frame. Labels are in a legend above.
void paint_lines(Painter& painter, const LineChart& chart, const std::vector<ChartLine>& lines,
                 const Theme& theme);

}  // namespace driftscope
