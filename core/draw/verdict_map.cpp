#include "core/draw/verdict_map.hpp"

#include <algorithm>

#include "core/base/format.hpp"
#include "core/draw/verdict_mark.hpp"

namespace driftscope {
namespace {

constexpr float names_width = 290.0f;
constexpr std::size_t name_columns = 40;
constexpr float cell = 14.0f;
constexpr float gap = 12.0f;
constexpr float head = 40.0f;

float column_left(const VerdictMap& map, std::size_t column) {
  float left = names_width + cell * static_cast<float>(column);
  for (const VerdictMap::Start& start : map.starts)
    if (start.column <= column && start.column > 0) left += gap;
  return left;
}

Colour ground_of(Verdict verdict, const Theme& theme) {
  switch (verdict) {
    case Verdict::identical: return mix(theme.panel, theme.verdict(verdict), 0.16f);
    case Verdict::rounding: return mix(theme.panel, theme.verdict(verdict), 0.34f);
    case Verdict::missing: return theme.panel;
    default: return theme.verdict(verdict);
  }
}

}  // namespace

MapSize verdict_map_size(const VerdictMap& map) {
  return {column_left(map, map.columns.size()) + 4.0f,
          head + cell * static_cast<float>(map.rows.size()) + 4.0f};
}

void paint_verdict_map(Painter& painter, const VerdictMap& map, const Theme& theme) {
  for (const VerdictMap::Start& start : map.starts)
    painter.text({column_left(map, start.column), 10.0f}, start.title, theme.dim, Anchor::start, true);
  painter.text({names_width - 8.0f, 28.0f}, "another token", theme.dim, Anchor::end, true);
  for (const std::size_t column : map.marked) {
    const float centre = column_left(map, column) + cell / 2.0f;
    const std::vector<Point> flag = {{centre - 4.0f, 24.0f}, {centre + 4.0f, 24.0f}, {centre, 32.0f}};
    painter.polygon(flag, theme.ink);
  }
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    const float top = head + cell * static_cast<float>(row);
    painter.text({names_width - 8.0f, top + cell / 2.0f}, elide(map.rows[row], name_columns), theme.ink,
                 Anchor::end, true);
    // Neighbours of one colour are one box: a map of a long text has many thousands of cells.
    for (std::size_t begin = 0; begin < map.columns.size();) {
      const Verdict verdict = map.columns[begin][row];
      const bool shaped = is_bad(verdict) || verdict == Verdict::unjudged;
      std::size_t end = begin + 1;
      while (!shaped && end < map.columns.size() && map.columns[end][row] == verdict &&
             column_left(map, end) - column_left(map, end - 1) <= cell)
        ++end;
      const Box box = {column_left(map, begin), top, column_left(map, end - 1) + cell - 1.0f,
                       top + cell - 1.0f};
      painter.fill(box, shaped ? mix(theme.panel, theme.verdict(verdict), 0.25f) : ground_of(verdict, theme));
      if (shaped) paint_verdict(painter, box.centre(), cell - 4.0f, verdict, theme);
      begin = end;
    }
  }
}

}  // namespace driftscope
