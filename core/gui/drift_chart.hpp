// Error against depth, all targets at once: the total difference from the left target, and the part that each
// layer adds itself. Where both are equal an error originates; where the first is larger it was inherited.
// Clients: the drift view, its export.
#pragma once

#include <cstdint>
#include <vector>

#include "core/draw/axis.hpp"
#include "core/draw/painter.hpp"
#include "core/draw/theme.hpp"
#include "core/gui/snapshot.hpp"

namespace driftscope::gui {

/// relative: RMS of the error over RMS of the signal, which stays comparable where activations shrink.
enum class DriftMeasure { relative, absolute, ulp, budget };

/// One target's errors, a value per layer of the drift; NaN where unknown.
struct DriftSeries {
  std::size_t target = 0;
  std::vector<double> total;  ///< against the left target
  std::vector<double> local;  ///< of the layer alone; relative and absolute measure only
};
/// The layers along which error travels: without constants, indices and conditions.
struct Drift {
  std::vector<std::size_t> layers;
  std::vector<DriftSeries> series;
};
[[nodiscard]] Drift drift_of(const Snapshot& snapshot, DriftMeasure measure);

/// The part of a layer's difference that it must have inherited: at least total − local (triangle
/// inequality).
[[nodiscard]] double inherited_error(double total, double local);

/// Where the error of a target originates, as a place in the drift: the layer with the largest own error
/// among those that differ.
[[nodiscard]] std::size_t born_at(const DriftSeries& series);

struct DriftChart {
  Box box;
  std::size_t first = 0;  ///< places [first, last) of the drift are shown
  std::size_t last = 0;
  std::size_t selected = no_place;  ///< a layer
  std::vector<bool> hidden;         ///< by target
  bool show_local = true;           ///< the layers' own errors, as rings
};

void paint_drift(Painter& painter, const DriftChart& chart, const Snapshot& snapshot, const Drift& drift,
                 DriftMeasure measure, const Theme& theme);

/// The area between the axes.
[[nodiscard]] Box drift_area(const Painter& painter, const DriftChart& chart);
/// The place in the drift at x; no_place outside the area.
[[nodiscard]] std::size_t drift_layer_at(const Painter& painter, const DriftChart& chart, Point at);

}  // namespace driftscope::gui
