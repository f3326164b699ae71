#include "core/draw/error_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.hpp"

namespace driftscope {
namespace {

constexpr float largest_side = 16.0f;  // of a cell
constexpr float most_high = 190.0f;
constexpr float least_high = 12.0f;
constexpr float least_tile = 3.0f;  // pixels between two lines

std::size_t error_rows(const ErrorMap& map) { return map.cells.size(); }
std::size_t error_columns(const ErrorMap& map) { return map.cells.empty() ? 0 : map.cells.front().size(); }

char error_cell(const ErrorMap& map, std::int64_t row, std::int64_t column) {
  if (row < 0 || column < 0 || row >= std::ssize(map.cells)) return '0';
  const std::string& cells = map.cells[static_cast<std::size_t>(row)];
  return column < std::ssize(cells) ? cells[static_cast<std::size_t>(column)] : '0';
}

/// 0, also for a character that no map has, to 9.
int error_level(char cell) { return cell > '0' && cell <= '9' ? cell - '0' : 0; }

/// The axis across is the last one of the map, the one down is the one before.
struct ErrorAxis {
  std::size_t place = 0;
  bool known = false;
};
ErrorAxis axis_across(const ErrorMap& map) {
  return {map.axes.empty() ? 0 : map.axes.size() - 1, !map.axes.empty()};
}
ErrorAxis axis_down(const ErrorMap& map) { return {0, map.axes.size() == 2}; }

std::int64_t size_along(const ErrorMap& map, ErrorAxis axis) {
  constexpr std::int64_t most = std::int64_t{1} << 40;  // a map may come from any file
  return axis.known && axis.place < map.sizes.size()
             ? std::clamp<std::int64_t>(map.sizes[axis.place], 1, most)
             : 1;
}

/// How many elements a block has along the axis; 1: no lines.
std::int64_t tile_along(const ErrorMap& map, ErrorAxis axis, const std::vector<std::int64_t>& tile) {
  if (!axis.known) return 1;
  const auto at = static_cast<std::size_t>(map.axes[axis.place]);
  return at < tile.size() ? std::max<std::int64_t>(1, tile[at]) : 1;
}

/// Lines between neighbours that `between` tells apart, across the picture or down.
template <class Between>
void paint_edges(Painter& painter, Box box, const ErrorMap& map, bool down, Colour colour, float width,
                 std::int64_t places, const Between& between) {
  const auto along = static_cast<std::int64_t>(down ? error_rows(map) : error_columns(map));
  const float length = down ? box.height() : box.width();
  const float across = down ? box.width() : box.height();
  for (std::int64_t place = 0; place <= places; ++place) {
    const float at =
        (down ? box.left : box.top) + across * static_cast<float>(place) / static_cast<float>(places);
    for (std::int64_t begin = 0; begin < along;) {
      std::int64_t end = begin;
      while (end < along && between(place, end)) ++end;
      if (end > begin) {
        const float from =
            (down ? box.top : box.left) + length * static_cast<float>(begin) / static_cast<float>(along);
        const float to =
            (down ? box.top : box.left) + length * static_cast<float>(end) / static_cast<float>(along);
        painter.line(down ? Point{at, from} : Point{from, at}, down ? Point{at, to} : Point{to, at}, colour,
                     width);
      }
      begin = end + 1;
    }
  }
}

void paint_outlines(Painter& painter, Box box, const ErrorMap& map, bool down, const Theme& theme) {
  const auto places = static_cast<std::int64_t>(down ? error_columns(map) : error_rows(map));
  paint_edges(painter, box, map, down, theme.ink, 1.5f, places, [&](std::int64_t place, std::int64_t i) {
    const char before = down ? error_cell(map, i, place - 1) : error_cell(map, place - 1, i);
    const char after = down ? error_cell(map, i, place) : error_cell(map, place, i);
    return (error_level(before) > 0) != (error_level(after) > 0);
  });
}

/// Between the blocks of a wrong region.
void paint_tiles(Painter& painter, Box box, const ErrorMap& map, bool down,
                 const std::vector<std::int64_t>& tile, const Theme& theme) {
  const ErrorAxis axis = down ? axis_across(map) : axis_down(map);
  const std::int64_t size = size_along(map, axis);
  const std::int64_t step = tile_along(map, axis, tile);
  const float across = down ? box.width() : box.height();
  if (step < 2 || across * static_cast<float>(step) < least_tile * painter.unit() * static_cast<float>(size))
    return;
  const auto cells = static_cast<std::int64_t>(down ? error_columns(map) : error_rows(map));
  for (std::int64_t element = step; element < size; element += step) {
    const std::int64_t cell = element * cells / size;
    const float share = static_cast<float>(element) / static_cast<float>(size);
    const float at = (down ? box.left : box.top) + across * share;
    const Box line = down ? Box{at, box.top, at, box.bottom} : Box{box.left, at, box.right, at};
    paint_edges(painter, line, map, down, theme.ink, 1.0f, 1, [&](std::int64_t place, std::int64_t i) {
      return place == 0 && error_level(down ? error_cell(map, i, cell) : error_cell(map, cell, i)) > 0;
    });
  }
}

std::string range_text(std::int64_t cell, std::size_t cells, std::int64_t size) {
  const auto count = static_cast<std::int64_t>(cells);
  const std::int64_t first = (cell * size + count - 1) / count;
  const std::int64_t last = ((cell + 1) * size + count - 1) / count - 1;
  return first >= last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last);
}

}  // namespace

ErrorChartSize error_chart_size(const ErrorMap& map, float width, float unit) {
  const auto columns = static_cast<float>(std::max<std::size_t>(1, error_columns(map)));
  const auto rows = static_cast<float>(std::max<std::size_t>(1, error_rows(map)));
  const float cell = std::min({width / columns, largest_side * unit, most_high * unit / rows});
  return {cell * columns, std::max(cell * rows, least_high * unit)};
}

void paint_error_chart(Painter& painter, Box box, const ErrorMap& map, const std::vector<std::int64_t>& tile,
                       const Theme& theme) {
  const std::size_t columns = error_columns(map);
  const std::size_t rows = error_rows(map);
  if (rows == 0 || columns == 0) return;
  painter.fill(box, theme.grid);
  const float wide = box.width() / static_cast<float>(columns);
  const float high = box.height() / static_cast<float>(rows);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t begin = 0; begin < std::min(columns, map.cells[row].size());) {
      // Neighbours of one colour are one box.
      const char cell = map.cells[row][begin];
      const std::size_t end =
          std::min({map.cells[row].find_first_not_of(cell, begin), map.cells[row].size(), columns});
      const float top = box.top + high * static_cast<float>(row);
      if (const int level = error_level(cell); level > 0)
        painter.fill(
            {box.left + wide * static_cast<float>(begin), top, box.left + wide * static_cast<float>(end),
             top + high},
            mix(theme.panel, theme.verdict(Verdict::fault), 0.28f + 0.08f * static_cast<float>(level)));
      begin = end;
    }
  for (const bool down : {false, true}) {
    paint_tiles(painter, box, map, down, tile, theme);
    paint_outlines(painter, box, map, down, theme);
  }
}

std::string error_chart_axes(const ErrorMap& map) {
  if (map.axes.empty() || map.axes.size() > 2 || map.axes.size() != map.sizes.size()) return "one number";
  if (map.axes.size() == 1) return fmt::format("axis {} ({}) across", map.axes[0], map.sizes[0]);
  return fmt::format("axis {} ({}) down, axis {} ({}) across", map.axes[0], map.sizes[0], map.axes[1],
                     map.sizes[1]);
}

std::optional<std::string> error_chart_text(Box box, const ErrorMap& map, Point at) {
  if (!box.contains(at) || error_rows(map) == 0 || error_columns(map) == 0) return {};
  const auto part = [](float offset, float whole, std::size_t count) {
    return static_cast<std::int64_t>(
        std::min(count - 1, static_cast<std::size_t>(offset / whole * static_cast<float>(count))));
  };
  const std::int64_t row = part(at.y - box.top, box.height(), error_rows(map));
  const std::int64_t column = part(at.x - box.left, box.width(), error_columns(map));
  std::string text;
  if (const ErrorAxis down = axis_down(map); down.known)
    text = fmt::format("axis {}: {}, ", map.axes[down.place],
                       range_text(row, error_rows(map), size_along(map, down)));
  if (const ErrorAxis across = axis_across(map); across.known)
    text += fmt::format("axis {}: {}: ", map.axes[across.place],
                        range_text(column, error_columns(map), size_along(map, across)));
  const int level = error_level(error_cell(map, row, column));
  if (level == 0) return text + "no element is wrong";
  if (level == 9) return text + "10⁸ × the budget or more, not a number, or another integer";
  return text +
         fmt::format("errors of at most {} × the budget", format_count(std::llround(std::pow(10.0, level))));
}

}  // namespace driftscope
