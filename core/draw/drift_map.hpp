// A map of distances on a logarithmic scale: things down, time across. Clients: the layers of trainings, on
// the page of curves and in the curves view.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/draw/painter.hpp"
#include "core/draw/theme.hpp"

namespace driftscope {

struct DriftMapPlace {
  std::size_t row = 0;
  std::size_t column = 0;
  bool operator==(const DriftMapPlace&) const = default;
};

struct DriftMap {
  std::vector<std::string> rows;            ///< their labels
  std::vector<std::string> columns;         ///< their labels
  std::string columns_title;                ///< "epoch"
  std::vector<std::vector<double>> values;  ///< [row][column]; NaN: not measured, infinite: no distance
  double threshold = 0.0;                   ///< marked on the scale; 0: none
  std::optional<DriftMapPlace> mark = {};   ///< framed
  /// The scale has these at least, so that maps beside each other have the same; 0: as the values are.
  double least = 0.0;
  double largest = 0.0;
};

/// Pixels that it needs; `unit`: as of the painter.
[[nodiscard]] float drift_map_height(const DriftMap& map, float unit = 1.0f);

/// With labels and the scale below.
void paint_drift_map(Painter& painter, Box box, const DriftMap& map, const Theme& theme);

/// The cell at a point of that picture.
[[nodiscard]] std::optional<DriftMapPlace> drift_map_place(const Painter& painter, Box box,
                                                           const DriftMap& map, Point at);

}  // namespace driftscope
