// Memory: samples over time on each target, and the memory that the layers' values need by their
// lifetimes. Clients: the memory view, its export, the report.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/draw/painter.hpp"
#include "core/draw/theme.hpp"
#include "core/results/layer_results.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

/// Samples of one kind on one target, by time.
struct MemoryCurve {
  std::size_t target = 0;
  std::string kind;  ///< "process_tree_pss", …
  std::vector<MemoryRecord> samples;
};

/// Bytes of values that are alive while each layer is computed: its own and those read later.
/// Values that are never read live to the end (outputs). Without constants, which are weights like others.
struct AliveValues {
  std::vector<std::size_t> layers;
  std::vector<std::int64_t> bytes;  ///< for each of them
  std::string peak_name;            ///< of the layer during which there are most
};

void paint_memory(Painter& painter, Box box, const std::vector<MemoryCurve>& curves, const Theme& theme);
void paint_alive(Painter& painter, Box box, const AliveValues& alive, std::size_t selected,
                 const Theme& theme);
/// The place among the chart's layers at x; no_place outside it.
[[nodiscard]] std::size_t alive_place_at(const Painter& painter, Box box, std::size_t layers, Point at);

/// Bytes after runs, without axes: from the smallest to the largest, at least 1 % of the memory, so that
/// noise does not look like growth.
void paint_growth(Painter& painter, Box box, std::span<const double> runs, std::span<const double> bytes,
                  Colour colour);

}  // namespace driftscope
