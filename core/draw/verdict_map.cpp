#include "core/draw/verdict_map.hpp"

#include <algorithm>

#include "core/base/format.hpp"
#include "core/draw/verdict_mark.hpp"
#include "core/results/layer_names.hpp"

namespace driftscope {
namespace {

constexpr std::size_t name_columns = 40;
constexpr std::size_t narrow_name_columns = 22;  // beside words
constexpr std::size_t head_columns = 8;

/// Lengths in pixels, and where columns begin, behind the names.
struct MapLayout {
  float names = 0.0f;
  float head = 0.0f;
  float wide = 0.0f;
  float high = 0.0f;
  std::vector<float> lefts;

  MapLayout(const VerdictMap& map, float unit) {
    const bool words = !map.heads.empty();
    names = (words ? 170.0f : 290.0f) * unit;
    head = (words ? 98.0f : 40.0f) * unit;
    wide = (words ? 58.0f : 14.0f) * unit;
    high = 14.0f * unit;
    float left = 0.0f;
    for (std::size_t column = 0; column <= map.columns.size(); ++column) {
      for (const VerdictMap::Start& start : map.starts)
        if (start.column == column && column > 0 && column < map.columns.size()) left += 12.0f * unit;
      lefts.push_back(left);
      left += wide;
    }
  }
  [[nodiscard]] float right() const { return lefts.back(); }
};

Colour ground_of(Verdict verdict, const Theme& theme) {
  switch (verdict) {
    case Verdict::identical: return mix(theme.panel, theme.verdict(verdict), 0.16f);
    case Verdict::rounding: return mix(theme.panel, theme.verdict(verdict), 0.34f);
    case Verdict::missing: return theme.panel;
    default: return theme.verdict(verdict);
  }
}

class MapPainting {
 public:
  MapPainting(Painter& painter, const VerdictMap& map, const Theme& theme,
              const std::optional<VerdictMapPart>& part)
      : painter_(painter),
        map_(map),
        theme_(theme),
        unit_(painter.unit()),
        layout_(map, unit_),
        box_(part ? part->box : whole(map, unit_)),
        scrolled_(part ? part->scrolled : Point{}),
        parted_(part.has_value()) {
    const auto count = static_cast<std::ptrdiff_t>(map_.columns.size());
    const auto begin = layout_.lefts.begin();
    const float seen = box_.width() - layout_.names;
    first_ = static_cast<std::size_t>(
        std::max<std::ptrdiff_t>(0, std::upper_bound(begin, begin + count, scrolled_.x) - begin - 1));
    last_ = static_cast<std::size_t>(std::lower_bound(begin, begin + count, scrolled_.x + seen) - begin);
  }

  void paint() {
    if (parted_) painter_.clip({box_.left + layout_.names, box_.top, box_.right, box_.bottom});
    paint_heads();
    if (parted_) painter_.unclip();
    paint_titles();
    if (parted_) painter_.clip({box_.left, box_.top + layout_.head, box_.right, box_.bottom});
    for (std::size_t row = 0; row < map_.rows.size(); ++row) {
      const float top = row_top(row);
      if (in_sight(top)) paint_name(row, top);
    }
    if (parted_) painter_.clip({box_.left + layout_.names, box_.top + layout_.head, box_.right, box_.bottom});
    for (std::size_t row = 0; row < map_.rows.size(); ++row) {
      const float top = row_top(row);
      if (in_sight(top)) paint_row(row, top);
    }
    if (parted_) painter_.unclip();
    if (parted_) painter_.unclip();
  }

 private:
  static Box whole(const VerdictMap& map, float unit) {
    const MapSize size = verdict_map_size(map, unit);
    return {0.0f, 0.0f, size.width, size.height};
  }
  [[nodiscard]] float column_left(std::size_t column) const {
    return box_.left + layout_.names + layout_.lefts[column] - scrolled_.x;
  }
  [[nodiscard]] float row_top(std::size_t row) const {
    return box_.top + layout_.head + layout_.high * static_cast<float>(row) - scrolled_.y;
  }

  [[nodiscard]] bool in_sight(float top) const {
    return top + layout_.high >= box_.top + layout_.head && top < box_.bottom;
  }

  void paint_heads() {
    for (const VerdictMap::Start& start : map_.starts)
      if (start.column < layout_.lefts.size())
        painter_.text({column_left(start.column), box_.top + 10.0f * unit_}, start.title, theme_.dim,
                      Anchor::start, true);
    if (map_.heads.empty()) {
      for (const std::size_t column : map_.marked) {
        const float centre = column_left(column) + layout_.wide / 2.0f;
        const float top = box_.top + 24.0f * unit_;
        const std::vector<Point> flag = {
            {centre - 4.0f * unit_, top}, {centre + 4.0f * unit_, top}, {centre, top + 8.0f * unit_}};
        painter_.polygon(flag, theme_.ink);
      }
      return;
    }
    for (std::size_t column = first_; column < last_ && column < map_.heads.size(); ++column)
      paint_head(map_.heads[column], column_left(column));
  }

  void paint_titles() {
    const float right = box_.left + layout_.names - 8.0f * unit_;
    const auto title = [&](float y, std::string_view text) {
      painter_.text({right, box_.top + y * unit_}, text, theme_.dim, Anchor::end, true);
    };
    if (map_.heads.empty()) return title(28.0f, "another token");
    title(28.0f, "step");
    title(45.0f, "token");
    title(62.0f, "instead of");
    if (!map_.bars.empty()) title(84.0f, map_.bars);
  }

  void paint_head(const VerdictMapHead& head, float left) {
    const float centre = left + layout_.wide / 2.0f;
    const bool other = !head.instead.empty();
    const Colour colour = other ? theme_.verdict(head.judged) : theme_.ink;
    const auto text = [&](float y, const std::string& words, Colour of) {
      painter_.text({centre, box_.top + y * unit_}, elide(words, head_columns), of, Anchor::middle, true);
    };
    if (other)
      painter_.fill({left + 1.0f * unit_, box_.top + 36.0f * unit_, left + layout_.wide - 2.0f * unit_,
                     box_.top + 71.0f * unit_},
                    mix(theme_.panel, theme_.verdict(head.judged), 0.18f), 3.0f);
    text(28.0f, head.step, theme_.dim);
    text(45.0f, head.text, colour);
    if (other) text(62.0f, head.instead, theme_.dim);
    if (other)
      paint_verdict(painter_, {left + layout_.wide - 8.0f * unit_, box_.top + 28.0f * unit_}, 9.0f * unit_,
                    head.judged, theme_);
    if (head.level < 0.0) return;
    const float base = box_.top + 92.0f * unit_;
    const float tall = std::max(1.0f, 16.0f * static_cast<float>(std::min(1.0, head.level))) * unit_;
    painter_.fill({left + 6.0f * unit_, base - tall, left + layout_.wide - 7.0f * unit_, base},
                  mix(theme_.panel, theme_.accent, 0.55f));
  }

  void paint_name(std::size_t row, float top) {
    painter_.text({box_.left + layout_.names - 8.0f * unit_, top + layout_.high / 2.0f},
                  map_.heads.empty() ? elide(map_.rows[row], name_columns)
                                     : elide_start(map_.rows[row], narrow_name_columns),
                  theme_.ink, Anchor::end, true);
  }

  /// Neighbours of one colour are one box: a map of a long text has many thousands of cells.
  void paint_row(std::size_t row, float top) {
    for (std::size_t begin = first_; begin < last_;) {
      const Verdict verdict = map_.columns[begin][row];
      const bool shaped = is_bad(verdict) || verdict == Verdict::unjudged;
      std::size_t end = begin + 1;
      while (!shaped && end < last_ && map_.columns[end][row] == verdict &&
             layout_.lefts[end] - layout_.lefts[end - 1] <= layout_.wide * 1.01f)
        ++end;
      const Box box = {column_left(begin), top, column_left(end - 1) + layout_.wide - unit_,
                       top + layout_.high - unit_};
      painter_.fill(box,
                    shaped ? mix(theme_.panel, theme_.verdict(verdict), 0.25f) : ground_of(verdict, theme_));
      if (shaped) paint_verdict(painter_, box.centre(), layout_.high - 4.0f * unit_, verdict, theme_);
      begin = end;
    }
  }

  Painter& painter_;
  const VerdictMap& map_;
  const Theme& theme_;
  const float unit_;
  const MapLayout layout_;
  const Box box_;
  const Point scrolled_;
  const bool parted_;
  std::size_t first_ = 0;  // columns in sight
  std::size_t last_ = 0;
};

}  // namespace

MapSize verdict_map_size(const VerdictMap& map, float unit) {
  const MapLayout layout(map, unit);
  return {layout.names + layout.right() + 4.0f * unit,
          layout.head + layout.high * static_cast<float>(map.rows.size()) + 4.0f * unit};
}

void paint_verdict_map(Painter& painter, const VerdictMap& map, const Theme& theme,
                       const std::optional<VerdictMapPart>& part) {
  MapPainting(painter, map, theme, part).paint();
}

VerdictMapPlace verdict_map_place(const VerdictMap& map, const VerdictMapPart& part, Point at, float unit) {
  const MapLayout layout(map, unit);
  VerdictMapPlace place;
  if (!part.box.contains(at)) return place;
  const float x = at.x - part.box.left - layout.names;
  const float y = at.y - part.box.top - layout.head;
  if (x >= 0.0f)
    for (std::size_t column = 0; column < map.columns.size(); ++column)
      if (x + part.scrolled.x >= layout.lefts[column] &&
          x + part.scrolled.x < layout.lefts[column] + layout.wide)
        place.column = column;
  if (y >= 0.0f) {
    const auto row = static_cast<std::size_t>((y + part.scrolled.y) / layout.high);
    if (row < map.rows.size()) place.row = row;
  }
  return place;
}

Point verdict_map_scroll(const VerdictMap& map, std::size_t column, std::size_t row, float unit) {
  constexpr std::size_t before = 4;
  const MapLayout layout(map, unit);
  return {layout.lefts[column - std::min(column, before)],
          layout.high * static_cast<float>(row - std::min(row, before))};
}

}  // namespace driftscope
