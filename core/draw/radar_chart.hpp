// Several rates of several things at once: an axis for each rate, a line around for each thing. Clients: the
// page of an attack and its view (robustness of targets against methods).
#pragma once

#include <string>
#include <vector>

#include "core/draw/painter.hpp"
#include "core/draw/theme.hpp"

namespace driftscope {

/// With fewer axes a line around encloses nothing: bars show them.
inline constexpr std::size_t min_radar_axes = 3;

struct RadarSeries {
  std::string name;
  std::vector<double> values;  ///< one for each axis, from 0 in the middle to 1; NaN: not known
  std::size_t series = 0;      ///< its colour
};

/// Clockwise from the top; rings at 25, 50, 75 and 100 %. Nothing below min_radar_axes.
void paint_radar(Painter& painter, Box box, const std::vector<std::string>& axes,
                 const std::vector<RadarSeries>& all, const Theme& theme);

}  // namespace driftscope
