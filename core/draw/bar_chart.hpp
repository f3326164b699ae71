// Bars of figures that are compared, with their intervals: accuracy, time, memory by target.
// Clients: the report of a study.
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

/// Pixels that the chart needs.
[[nodiscard]] float bar_chart_height(std::size_t bars);

/// One below the other, from 0; of what is negative or not finite only the texts. `logarithmic`: from the
/// power of ten below the smallest on.
void paint_bars(Painter& painter, Box box, const std::vector<Bar>& bars, bool logarithmic,
                const Theme& theme);

}  // namespace driftscope
