// Error against depth, drawn: a line per target for the difference from the left one, rings for what each
// layer adds itself. Clients: the drift view, the report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/draw/painter.hpp"
#include "core/draw/theme.hpp"
#include "core/results/drift.hpp"

namespace driftscope {

/// A place with a text above the chart.
struct DriftMark {
  std::size_t place = 0;  ///< among the drift's layers
  std::string text;
};

struct DriftChart {
  Box box;
  std::size_t first = 0;  ///< places [first, last) of the drift are shown
  std::size_t last = 0;
  std::size_t selected = no_place;  ///< a layer
  std::optional<DriftMark> mark;
  std::vector<bool> hidden;  ///< by target
  bool show_local = true;    ///< the layers' own errors, as rings
  bool compact = false;      ///< fewer points where layers are very many: the picture will be sent around
};

void paint_drift(Painter& painter, const DriftChart& chart, const Drift& drift, const Theme& theme);

/// How many layers one point stands for: it is the worst of them.
[[nodiscard]] std::size_t layers_per_point(const Painter& painter, const DriftChart& chart);
/// The area between the axes.
[[nodiscard]] Box drift_area(const Painter& painter, const DriftChart& chart);
/// The place in the drift at x; no_place outside the area.
[[nodiscard]] std::size_t drift_layer_at(const Painter& painter, const DriftChart& chart, Point at);

/// What a target looks like in the chart: for legends. `joined`: with a line.
void paint_drift_key(Painter& painter, Box box, const DriftSeries& series, bool joined, const Theme& theme);
/// Whether the total is known of any layer; else there are rings alone.
[[nodiscard]] bool has_total(const DriftSeries& series);

}  // namespace driftscope
