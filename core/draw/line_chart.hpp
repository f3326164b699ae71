// Lines over steps, with a band from the least to the largest of repetitions: training curves.
// Clients: the page of curves, the curves view.
#pragma once

#include <optional>
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

/// With axes; of no finite value only a sentence. Labels are in a legend above. Returns the area of the
/// lines, without width where there are none.
Box paint_lines(Painter& painter, const LineChart& chart, const std::vector<ChartLine>& lines,
                const Theme& theme);

/// A step that some line has, and where it is.
struct ChartStep {
  double step = 0.0;
  float x = 0.0f;
};
/// The one nearest to `x` in the area that paint_lines returned.
[[nodiscard]] std::optional<ChartStep> nearest_step(const std::vector<ChartLine>& lines, Box area, float x);

/// The place of the step in the line; nothing: it does not have it.
[[nodiscard]] std::optional<std::size_t> place_of_step(const ChartLine& line, double step);

}  // namespace driftscope
