// Error against depth, all targets at once: the total difference from the left target, and the part that each
// layer adds itself. Where both are equal an error originates; where the first is larger it was inherited.
// Clients: the drift chart (core/draw), the report and the views that show it. Draws nothing.
#pragma once

#include <string>
#include <vector>

#include "core/results/layer_results.hpp"

namespace driftscope {

/// relative: RMS of the error over RMS of the signal, which stays comparable where activations shrink.
enum class DriftMeasure { relative, absolute, ulp, budget };

/// One target's errors, a value per layer of the drift; NaN where unknown.
struct DriftSeries {
  std::size_t target = 0;
  std::string name;           ///< of the target, as its owner shows it
  std::vector<double> total;  ///< against the left target; the budget measure needs none
  std::vector<double> local;  ///< of the layer alone; relative and absolute measure only
  std::vector<bool> faults;   ///< layers that are faults on this target
};

struct Drift {
  DriftMeasure measure = DriftMeasure::relative;
  std::vector<std::size_t> layers;  ///< among the results'
  std::vector<std::string> names;   ///< of these layers, as their owner shows them
  std::vector<DriftSeries> series;  ///< targets of which something is known
};

/// Whether error travels through values of a type: not through indices, sizes and conditions.
[[nodiscard]] bool carries_error(DType dtype);

/// Along these layers; names are left to the caller.
[[nodiscard]] Drift drift_of(const LayerResults& results, std::vector<std::size_t> layers,
                             DriftMeasure measure);

/// The part of a layer's difference that it must have inherited: at least total − local (triangle
/// inequality).
[[nodiscard]] double inherited_error(double total, double local);

/// Where the error of a target originates, as a place in the drift: the layer with the largest own error
/// among those that differ; no_place when there is none.
[[nodiscard]] std::size_t born_at(const DriftSeries& series);

}  // namespace driftscope
