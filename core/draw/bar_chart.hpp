// Bars of figures that are compared, with their intervals: accuracy, time, memory by target.
// Clients: the pages of studies and attacks, their views, the report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/draw/painter.hpp"
#include "core/draw/theme.hpp"
#include "core/statistics/statistics.hpp"

namespace driftscope {

struct Bar {
  std::string label;  ///< before it
  std::string text;   ///< behind it: the figure as people read it
  double value = 0.0;
  std::optional<Interval> interval = {};  ///< of the value, in its unit
  std::size_t series = 0;                 ///< its colour
};

/// Pixels that the chart needs; `unit`: as of the painter.
[[nodiscard]] float bar_chart_height(std::size_t bars, float unit = 1.0f);

/// One below the other, from 0; of what is negative or not finite only the texts. `logarithmic`: from the
/// power of ten below the smallest on. `whole`: the axis reaches at least this, so that charts are
/// comparable.
void paint_bars(Painter& painter, Box box, const std::vector<Bar>& bars, bool logarithmic, const Theme& theme,
                double whole = 0.0);

}  // namespace driftscope
