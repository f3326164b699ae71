// Where the time goes: bars of targets beside each other, and a run as a flame chart by the scopes in
// the nodes' names. Clients: the time view, its exports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/draw/painter.hpp"
#include "core/draw/theme.hpp"
#include "core/results/layer_results.hpp"

namespace driftscope {

/// How many times as long: "×0.76", "×5.9", "×376".
[[nodiscard]] std::string ratio_text(double ratio);

/// A bar per target, below each other, each with its time and its ratio to the first; 0: not known.
void paint_times(Painter& painter, Box row, const std::vector<std::int64_t>& times_ns,
                 std::int64_t longest_ns, const Theme& theme);
[[nodiscard]] float time_row_height(const Painter& painter, std::size_t targets);

/// Such bars of several layers, each with its name; none without targets.
struct TimeRow {
  std::string name;
  std::vector<std::int64_t> times_ns;
};
void paint_time_rows(Painter& painter, Box box, const std::vector<TimeRow>& rows, std::int64_t longest_ns,
                     const Theme& theme);
[[nodiscard]] float time_rows_height(const Painter& painter, const std::vector<TimeRow>& rows);

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

}  // namespace driftscope
