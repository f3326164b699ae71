// The network as drawn: boxes coloured by verdict or by cost, edges between ranks, only the visible
// part. Clients: the graph view, its export.
#pragma once

#include <vector>

#include "core/draw/theme.hpp"
#include "core/gui/graph_layout.hpp"
#include "core/gui/snapshot.hpp"

namespace driftscope::gui {

enum class GraphColouring { verdict, time, memory, error };

struct GraphPicture {
  Box box;             ///< on the screen
  Point centre;        ///< of the view, in units of the layout
  float scale = 1.0f;  ///< pixels per unit in y; a unit in x is wider, see node_aspect
  std::size_t selected = no_place;
  std::size_t target = 0;
  GraphColouring colouring = GraphColouring::verdict;
};
/// Width of a layout's unit over its height.
inline constexpr float node_aspect = 3.3f;

/// Layers of a snapshot as a graph; without structure, a chain in order. Nodes have the layers' numbers;
/// constants are in no rank.
[[nodiscard]] GraphLayout layout_of(const Snapshot& snapshot);

/// Fits everything into view, but no larger than readable.
[[nodiscard]] GraphPicture fitted(Box box, const GraphLayout& layout, float readable_scale);

void paint_graph(Painter& painter, const GraphPicture& picture, const GraphLayout& layout,
                 const Snapshot& snapshot, const Theme& theme);

/// The layer at a point; no_place between layers.
[[nodiscard]] std::size_t graph_layer_at(const GraphPicture& picture, const GraphLayout& layout, Point at);

}  // namespace driftscope::gui
