#include "core/gui/graph_picture.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/format.hpp"
#include "core/draw/colour_map.hpp"
#include "core/draw/verdict_mark.hpp"
#include "core/results/layer_names.hpp"

namespace driftscope::gui {
namespace {

constexpr float node_height = 0.56f;  // of a rank
constexpr std::size_t max_drawn = 40'000;
constexpr Point nowhere{-1.0f, -1.0f};  // of layers that are not drawn

Point on_screen(const GraphPicture& picture, Point unit) {
  const Point middle = picture.box.centre();
  return {middle.x + (unit.x - picture.centre.x) * picture.scale * node_aspect,
          middle.y + (unit.y - picture.centre.y) * picture.scale};
}

Box node_box(const GraphPicture& picture, Point unit) {
  const Point at = on_screen(picture, unit);
  const float half_width = picture.scale * node_aspect * 0.5f;
  const float half_height = picture.scale * node_height * 0.5f;
  return {at.x - half_width, at.y - half_height, at.x + half_width, at.y + half_height};
}

/// The share of a layer in the coloured quantity, from 0 to 1; NaN when it is not known.
double cost_share(const Snapshot& snapshot, const GraphPicture& picture, std::size_t layer, double max_cost) {
  const Cell& cell = snapshot.cell(layer, picture.target);
  switch (picture.colouring) {
    case GraphColouring::time:
      return cell.time_ns() > 0 ? static_cast<double>(cell.time_ns()) / max_cost : not_measured;
    case GraphColouring::memory: return static_cast<double>(snapshot.layers[layer].bytes) / max_cost;
    default: break;
  }
  const double error = std::isnan(cell[compared_metric("max_abs")]) ? cell[verified_metric("max_abs")]
                                                                    : cell[compared_metric("max_abs")];
  if (std::isnan(error)) return error;
  return error > 0.0 ? std::clamp((std::log10(error) + 10.0) / 10.0, 0.05, 1.0) : 0.0;
}

double largest_cost(const Snapshot& snapshot, const GraphPicture& picture) {
  double max_cost = 1.0;
  for (std::size_t i = 0; i < snapshot.layers.size(); ++i)
    max_cost = std::max(max_cost, static_cast<double>(picture.colouring == GraphColouring::time
                                                          ? snapshot.cell(i, picture.target).time_ns()
                                                          : snapshot.layers[i].bytes));
  return max_cost;
}

void paint_edge(Painter& painter, const GraphPicture& picture, const GraphLayout& layout,
                const GraphEdge& edge, Colour colour, float width) {
  Point from = on_screen(picture, layout.nodes[edge.from]);
  Point to = on_screen(picture, layout.nodes[edge.to]);
  from.y += picture.scale * node_height * 0.5f;
  to.y -= picture.scale * node_height * 0.5f;
  std::vector<Point> line = {from};
  for (const Point& bend : edge.by) line.push_back(on_screen(picture, bend));
  line.push_back(to);
  painter.polyline(line, colour, width);
  if (picture.scale > 24.0f) {
    const Point tip[] = {to, {to.x - 3.5f, to.y - 6.0f}, {to.x + 3.5f, to.y - 6.0f}};
    painter.polygon(tip, colour);
  }
}

}  // namespace

GraphLayout layout_of(const Snapshot& snapshot) {
  // Constants have no place in it.
  std::vector<std::uint32_t> shown;
  std::vector<std::uint32_t> place(snapshot.layers.size());
  for (std::uint32_t i = 0; i < snapshot.layers.size(); ++i) {
    place[i] = static_cast<std::uint32_t>(shown.size());
    if (!is_folded(snapshot, i)) shown.push_back(i);
  }
  std::vector<std::vector<std::uint32_t>> inputs(shown.size());
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (snapshot.has_structure) {
      for (const std::uint32_t input : snapshot.layers[shown[i]].inputs)
        if (!is_folded(snapshot, input)) inputs[i].push_back(place[input]);
    } else if (i > 0) {
      inputs[i] = {static_cast<std::uint32_t>(i - 1)};
    }
  }
  GraphLayout layout = layout_graph(inputs);
  std::vector<Point> nodes(snapshot.layers.size(), nowhere);
  for (std::size_t i = 0; i < shown.size(); ++i) nodes[shown[i]] = layout.nodes[i];
  layout.nodes = std::move(nodes);
  for (GraphEdge& edge : layout.edges) edge.from = shown[edge.from], edge.to = shown[edge.to];
  for (auto& rank : layout.ranks)
    for (std::uint32_t& node : rank) node = shown[node];
  return layout;
}

GraphPicture fitted(Box box, const GraphLayout& layout, float readable_scale) {
  GraphPicture picture;
  picture.box = box;
  picture.centre = {layout.width / 2.0f, layout.height / 2.0f};
  const float across = box.width() / std::max(1.0f, (layout.width + 0.5f) * node_aspect);
  const float down = box.height() / std::max(1.0f, layout.height + 0.5f);
  picture.scale = std::clamp(std::min(across, down), 0.001f, readable_scale);
  return picture;
}

void paint_graph(Painter& painter, const GraphPicture& picture, const GraphLayout& layout,
                 const Snapshot& snapshot, const Theme& theme) {
  painter.clip(picture.box);
  const float top = picture.centre.y - picture.box.height() / picture.scale / 2.0f - 1.0f;
  const float bottom = picture.centre.y + picture.box.height() / picture.scale / 2.0f + 1.0f;
  const auto in_sight = [&](float from, float to) { return to >= top && from <= bottom; };
  // Lines closer than their width would only make a grey area.
  if (picture.scale > 1.5f) {
    std::size_t drawn = 0;
    for (const GraphEdge& edge : layout.edges) {
      if (!in_sight(layout.nodes[edge.from].y, layout.nodes[edge.to].y)) continue;
      const bool chosen = edge.from == picture.selected || edge.to == picture.selected;
      paint_edge(painter, picture, layout, edge, chosen ? theme.accent : mix(theme.panel, theme.dim, 0.55f),
                 chosen ? 2.0f : 1.0f);
      if (++drawn > max_drawn) break;
    }
  }
  const double max_cost = largest_cost(snapshot, picture);
  const auto first = static_cast<std::size_t>(std::clamp(top, 0.0f, layout.height));
  const auto last =
      std::min(layout.ranks.size(), static_cast<std::size_t>(std::clamp(bottom + 1.0f, 0.0f, layout.height)));
  const std::size_t skip =
      picture.scale < 0.7f ? static_cast<std::size_t>(std::ceil(0.7f / picture.scale)) : 1;
  std::size_t drawn = 0;
  for (std::size_t rank = first; rank < last; ++rank)
    for (const std::uint32_t i : layout.ranks[rank]) {
      const Verdict verdict = snapshot.cell(i, picture.target).verdict;
      const bool grave = is_bad(verdict);
      // Zoomed far out only some ranks are drawn, but always those with a fault.
      if (skip > 1 && rank % skip != 0 && !grave && i != picture.selected) continue;
      const Box box = node_box(picture, layout.nodes[i]);
      if (box.right < picture.box.left || box.left > picture.box.right) continue;
      if (++drawn > max_drawn) break;
      Colour fill = theme.raised;
      Colour text = theme.ink;
      if (picture.colouring == GraphColouring::verdict) {
        fill = mix(theme.panel, theme.verdict(verdict),
                   verdict == Verdict::missing ? 0.08f
                   : grave                     ? 0.35f
                                               : 0.16f);
      } else if (const double share = cost_share(snapshot, picture, i, max_cost); !std::isnan(share)) {
        fill = sequential_colour(share);
        text = lightness(fill) > 55.0 ? rgb(0x101514) : rgb(0xffffff);
      }
      const bool chosen = i == picture.selected;
      const float radius = picture.scale > 12.0f ? 4.0f : 0.0f;
      painter.fill(
          {box.left, box.top, std::max(box.right, box.left + 1.0f), std::max(box.bottom, box.top + 1.0f)},
          picture.scale > 6.0f || picture.colouring != GraphColouring::verdict ? fill
                                                                               : theme.verdict(verdict),
          radius);
      if (picture.scale > 6.0f || chosen)
        painter.frame(chosen ? box.inset(-1.5f) : box,
                      chosen                                         ? theme.accent
                      : picture.colouring == GraphColouring::verdict ? theme.verdict(verdict)
                                                                     : theme.line,
                      chosen ? 2.5f : 1.0f, radius);
      const float line = painter.line_height(true);
      if (box.height() < line * 1.05f) continue;
      const float mark = std::min(12.0f, box.height() * 0.5f);
      paint_verdict(painter, {box.left + mark * 0.5f + 6.0f, box.centre().y}, mark, verdict, theme);
      const float room = box.width() - mark - 18.0f;
      const auto letters =
          static_cast<std::size_t>(std::max(0.0f, room / (painter.text_width("nnnnnnnnnn", true) / 10.0f)));
      if (letters < 3) continue;
      const Layer& layer = snapshot.layers[i];
      const bool two_lines = box.height() > line * 2.3f;
      const float x = box.left + mark + 12.0f;
      painter.text({x, box.centre().y - (two_lines ? line * 0.55f : 0.0f)},
                   elide(layer.op.empty() ? layer.label : layer.op, letters), text, Anchor::start, true);
      if (two_lines)
        painter.text({x, box.centre().y + line * 0.55f}, elide_start(layer.label, letters),
                     picture.colouring == GraphColouring::verdict ? theme.dim : text, Anchor::start, true);
    }
  painter.unclip();
}

std::size_t graph_layer_at(const GraphPicture& picture, const GraphLayout& layout, Point at) {
  if (!picture.box.contains(at)) return no_place;
  const float y = picture.centre.y + (at.y - picture.box.centre().y) / picture.scale;
  if (y < 0.0f || y >= layout.height) return no_place;
  for (const std::uint32_t i : layout.ranks[static_cast<std::size_t>(y)])
    if (node_box(picture, layout.nodes[i]).contains(at)) return i;
  return no_place;
}

}  // namespace driftscope::gui
