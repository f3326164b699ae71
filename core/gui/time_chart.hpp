// Where the time goes: bars per layer beside each other, and a run as a flame chart by the scopes in
// the nodes' names. Clients: the time view, its exports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/draw/painter.hpp"
#include "core/draw/theme.hpp"
#include "core/gui/snapshot.hpp"

namespace driftscope::gui {

/// How many times as long: "×0.76", "×5.9", "×376".
[[nodiscard]] std::string ratio_text(double ratio);

/// Longest time of a layer on any target: the scale of the bars. `first`: of the first run.
[[nodiscard]] std::int64_t longest_layer_ns(const Snapshot& snapshot, bool first);

/// One row per layer, a bar per target; `rows` are layers, each `row_height` high.
[[nodiscard]] float time_row_height(const Painter& painter, std::size_t targets);
void paint_time_row(Painter& painter, Box row, const Snapshot& snapshot, std::size_t layer,
                    std::int64_t longest_ns, bool first, const Theme& theme);
/// The same for the whole model, on a scale of its own: its time is not the sum of layers that were watched.
void paint_model_row(Painter& painter, Box row, const Snapshot& snapshot, bool first, const Theme& theme);

/// A stretch of time on one level: a scope, or at the bottom a layer.
struct FlameSpan {
  std::size_t depth = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::string name;              ///< "layer1", "Conv"
  std::size_t layer = no_place;  ///< of the bottom level
};
struct Flame {
  std::vector<FlameSpan> spans;  ///< in order of their beginning, outer before inner
  std::size_t depth = 0;         ///< levels
  std::int64_t total_ns = 0;
};
/// The nodes of one target laid end to end, in the order in which they ran; scopes are the parts of
/// their names between '/'. Nodes without times are left out.
[[nodiscard]] Flame flame_of(const Snapshot& snapshot, std::size_t target, bool first);

struct FlameView {
  Box box;
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  std::size_t selected = no_place;
};
void paint_flame(Painter& painter, const FlameView& view, const Flame& flame, const Theme& theme);
/// The span at a point; null outside of all.
[[nodiscard]] const FlameSpan* flame_at(const Painter& painter, const FlameView& view, const Flame& flame,
                                        Point at);
[[nodiscard]] float flame_level_height(const Painter& painter);

}  // namespace driftscope::gui
