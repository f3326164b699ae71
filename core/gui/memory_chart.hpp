// Memory: samples over time on each target, and the memory that the layers' values need by their
// lifetimes. Clients: the memory view, its export.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/draw/painter.hpp"
#include "core/draw/theme.hpp"
#include "core/gui/snapshot.hpp"

namespace driftscope::gui {

/// Samples of one kind on one target, by time.
struct MemorySeries {
  std::size_t target = 0;
  std::string kind;  ///< "process_tree_pss", …
  std::vector<MemoryRecord> samples;
};
[[nodiscard]] std::vector<MemorySeries> memory_series(const Snapshot& snapshot);
/// "process tree", "wasm heap", …
[[nodiscard]] std::string memory_kind_text(const std::string& kind);

/// Bytes of values that are alive while each layer is computed: its own and those read later.
/// Values that are never read live to the end (outputs). Without constants, which are weights like others.
struct AliveValues {
  std::vector<std::size_t> layers;
  std::vector<std::int64_t> bytes;  ///< for each of them
};
/// Empty without the model's structure.
[[nodiscard]] AliveValues alive_values(const Snapshot& snapshot);

void paint_memory(Painter& painter, Box box, const std::vector<MemorySeries>& series, const Theme& theme);
void paint_alive(Painter& painter, Box box, const AliveValues& alive, const Snapshot& snapshot,
                 std::size_t selected, const Theme& theme);
/// The place among the chart's layers at x; no_place outside it.
[[nodiscard]] std::size_t alive_place_at(const Painter& painter, Box box, std::size_t layers, Point at);

}  // namespace driftscope::gui
