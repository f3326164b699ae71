#include "core/draw/drift_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.hpp"
#include "core/draw/colour_map.hpp"

namespace driftscope {
namespace {

constexpr float map_row = 17.0f;
constexpr float map_below = 66.0f;     // the columns' labels, their title, the scale
constexpr float map_widest = 34.0f;    // of a cell: few epochs do not fill the width
constexpr std::size_t map_label = 24;  // characters of a row's label
constexpr int map_scale_steps = 48;
constexpr std::string_view map_scale_title = "distance";

/// Whole powers of ten around all that is finite and above 0.
struct Decades {
  int low = -8;
  int high = 0;
  [[nodiscard]] double place(double value) const {
    return std::clamp((std::log10(value) - low) / (high - low), 0.0, 1.0);
  }
};

Decades decades_of(const DriftMap& map) {
  double least = HUGE_VAL;
  double largest = 0.0;
  const auto include = [&](double value) {
    if (std::isfinite(value) && value > 0.0)
      least = std::min(least, value), largest = std::max(largest, value);
  };
  for (const std::vector<double>& row : map.values) std::ranges::for_each(row, include);
  for (const double value : {map.threshold, map.least, map.largest}) include(value);
  if (!(largest > 0.0)) return {};
  Decades made{static_cast<int>(std::floor(std::log10(least))),
               static_cast<int>(std::ceil(std::log10(largest)))};
  if (made.high <= made.low) made.high = made.low + 1;
  return made;
}

Colour cell_colour(double value, const Decades& decades, const Theme& theme) {
  if (std::isnan(value)) return theme.panel;
  if (std::isinf(value)) return positive_infinity_colour;
  // No distance at all has a colour of its own: the same bits are not the least of the differences.
  return value > 0.0 ? sequential_colour(decades.place(value)) : theme.raised;
}

Box cells_of(const Painter& painter, Box box, const DriftMap& map) {
  float labels =
      std::max(painter.text_width(map.columns_title, true), painter.text_width(map_scale_title, true));
  for (const std::string& row : map.rows)
    labels = std::max(labels, painter.text_width(elide(row, map_label), true));
  const float unit = painter.unit();
  const float left = box.left + labels + 10.0f * unit;
  const float most = map_widest * unit * static_cast<float>(map.columns.size());
  return {left, box.top, std::min(box.right - 4.0f * unit, left + most),
          box.top + map_row * unit * static_cast<float>(map.rows.size())};
}

void paint_scale(Painter& painter, Box at, const DriftMap& map, const Decades& decades, const Theme& theme) {
  const float unit = painter.unit();
  const float step = at.width() / static_cast<float>(map_scale_steps);
  // A little under the next piece: else there are seams.
  for (int i = 0; i < map_scale_steps; ++i) {
    const float left = at.left + step * static_cast<float>(i);
    painter.fill({left, at.top, std::min(at.right, left + step + 0.6f * unit), at.bottom},
                 sequential_colour((i + 0.5) / map_scale_steps));
  }
  const int span = decades.high - decades.low;
  const int every = std::max(1, (span + 5) / 6);
  const float y = at.bottom + 3.0f * unit + painter.line_height(true) * 0.5f;
  for (int e = decades.low; e <= decades.high; e += every)
    painter.text({at.left + at.width() * static_cast<float>(e - decades.low) / static_cast<float>(span), y},
                 fmt::format("{:g}", std::pow(10.0, e)), theme.dim, Anchor::middle, true);
  if (!(map.threshold > 0.0)) return;
  const float x = at.left + at.width() * static_cast<float>(decades.place(map.threshold));
  painter.line({x, at.top - 3.0f * unit}, {x, at.bottom + 2.0f * unit}, theme.ink, 2.0f);
}

}  // namespace

float drift_map_height(const DriftMap& map, float unit) {
  return (map_row * static_cast<float>(map.rows.size()) + map_below) * unit;
}

void paint_drift_map(Painter& painter, Box box, const DriftMap& map, const Theme& theme) {
  const float unit = painter.unit();
  const Box cells = cells_of(painter, box, map);
  if (map.rows.empty() || map.columns.empty() || cells.width() < 4.0f) return;
  const Decades decades = decades_of(map);
  const float wide = cells.width() / static_cast<float>(map.columns.size());
  const float high = map_row * unit;
  const float gap = wide > 6.0f * unit ? unit : 0.0f;
  const auto cell = [&](std::size_t r, std::size_t c) -> Box {
    const float x = cells.left + wide * static_cast<float>(c);
    const float y = cells.top + high * static_cast<float>(r);
    return {x, y, x + wide - gap, y + high - unit};
  };
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    painter.text({cells.left - 6.0f * unit, cells.top + high * (static_cast<float>(r) + 0.5f)},
                 elide(map.rows[r], map_label), theme.ink, Anchor::end, true);
    for (std::size_t c = 0; c < map.columns.size(); ++c)
      painter.fill(cell(r, c), cell_colour(map.values[r][c], decades, theme));
  }
  if (map.mark) painter.frame(cell(map.mark->row, map.mark->column), theme.ink, 2.0f);
  float widest = 0.0f;
  for (const std::string& column : map.columns) widest = std::max(widest, painter.text_width(column, true));
  const auto every = static_cast<std::size_t>(std::ceil((widest + 8.0f * unit) / wide));
  const float labels = cells.bottom + 2.0f * unit + painter.line_height(true) * 0.5f;
  for (std::size_t c = 0; c < map.columns.size(); c += std::max<std::size_t>(1, every))
    painter.text({cell(0, c).centre().x, labels}, map.columns[c], theme.dim, Anchor::middle, true);
  painter.text({cells.left - 6.0f * unit, labels}, map.columns_title, theme.dim, Anchor::end, true);
  const float top = cells.bottom + 30.0f * unit;
  const float room = box.right - cells.left - 24.0f * unit;
  paint_scale(painter,
              {cells.left + 12.0f * unit, top, cells.left + 12.0f * unit + std::min(room, 300.0f * unit),
               top + 10.0f * unit},
              map, decades, theme);
  painter.text({cells.left - 6.0f * unit, top + 5.0f * unit}, map_scale_title, theme.dim, Anchor::end, true);
}

std::optional<DriftMapPlace> drift_map_place(const Painter& painter, Box box, const DriftMap& map, Point at) {
  const Box cells = cells_of(painter, box, map);
  if (!cells.contains(at) || map.rows.empty() || map.columns.empty()) return {};
  const auto part = [](float offset, float whole, std::size_t count) {
    return std::min(count - 1, static_cast<std::size_t>(offset / whole * static_cast<float>(count)));
  };
  return DriftMapPlace{part(at.y - cells.top, cells.height(), map.rows.size()),
                       part(at.x - cells.left, cells.width(), map.columns.size())};
}

}  // namespace driftscope
