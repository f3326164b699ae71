// What the charts show of a snapshot. Clients: the views of drift, time and memory.
#pragma once

#include <cstdint>
#include <vector>

#include "core/draw/memory_chart.hpp"
#include "core/draw/time_chart.hpp"
#include "core/gui/snapshot.hpp"
#include "core/results/drift.hpp"

namespace driftscope::gui {

/// The layers along which error travels: without constants, indices and conditions.
[[nodiscard]] Drift drift_of(const Snapshot& snapshot, DriftMeasure measure);

/// Of each target, in nanoseconds; 0 where unknown. `first`: of the first run.
[[nodiscard]] std::vector<std::int64_t> layer_times(const Snapshot& snapshot, std::size_t layer, bool first);
/// Of the whole model, which is not the sum of layers that were watched.
[[nodiscard]] std::vector<std::int64_t> model_times(const Snapshot& snapshot, bool first);
/// Longest time of a layer on any target: the scale of the bars.
[[nodiscard]] std::int64_t longest_layer_ns(const Snapshot& snapshot, bool first);

/// The nodes of one target laid end to end, in the order in which they ran; scopes are the parts of
/// their names between '/'. Nodes without times are left out.
[[nodiscard]] Flame flame_of(const Snapshot& snapshot, std::size_t target, bool first);

/// The samples of memory, by target and kind.
[[nodiscard]] std::vector<MemoryCurve> memory_curves(const Snapshot& snapshot);

/// Empty without the model's structure.
[[nodiscard]] AliveValues alive_values(const Snapshot& snapshot);

}  // namespace driftscope::gui
