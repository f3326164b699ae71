#include "core/draw/radar_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace driftscope {
namespace {

constexpr int radar_rings = 4;

class Radar {
 public:
  Radar(Painter& painter, Box box, std::size_t axes, const Theme& theme)
      : painter_(painter), theme_(theme), axes_(axes), centre_(box.centre()) {
    const float line = painter.line_height(true);
    radius_ = std::max(1.0f, std::min(box.width() / 2.0f - 6.0f * line, box.height() / 2.0f - 2.0f * line));
  }

  /// On axis `axis`, `share` of the way out.
  [[nodiscard]] Point at(std::size_t axis, double share) const {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(axis) / static_cast<double>(axes_);
    const double length = share * static_cast<double>(radius_);
    return {centre_.x + static_cast<float>(std::sin(angle) * length),
            centre_.y - static_cast<float>(std::cos(angle) * length)};
  }

  void grid(const std::vector<std::string>& names) {
    for (int ring = 1; ring <= radar_rings; ++ring) {
      std::vector<Point> around;
      for (std::size_t axis = 0; axis <= axes_; ++axis)
        around.push_back(at(axis % axes_, static_cast<double>(ring) / radar_rings));
      painter_.polyline(around, ring == radar_rings ? theme_.line : theme_.grid, 1.0f);
    }
    for (std::size_t axis = 0; axis < axes_; ++axis) {
      painter_.line(centre_, at(axis, 1.0), theme_.grid, 1.0f);
      Point label = at(axis, 1.0);
      const float line = painter_.line_height(true);
      const float dx = label.x - centre_.x;
      const Anchor anchor = std::fabs(dx) < 1.0f ? Anchor::middle : dx > 0.0f ? Anchor::start : Anchor::end;
      label.x += anchor == Anchor::middle ? 0.0f : anchor == Anchor::start ? line * 0.5f : -line * 0.5f;
      if (anchor == Anchor::middle) label.y += label.y < centre_.y ? -line * 0.8f : line * 0.8f;
      painter_.text(label, names[axis], theme_.ink, anchor, true);
    }
    // Beside the first axis, where lines seldom go.
    for (int ring = 1; ring <= radar_rings; ++ring) {
      const Point place = at(0, static_cast<double>(ring) / radar_rings);
      painter_.text({place.x + 4.0f * painter_.unit(), place.y + painter_.line_height(true) * 0.55f},
                    fmt::format("{} %", 100 * ring / radar_rings), theme_.dim, Anchor::start, true);
    }
  }

  void draw(const RadarSeries& series, float width) {
    const Colour colour = theme_.series(series.series);
    const auto known = [&](std::size_t axis) {
      return axis < series.values.size() && std::isfinite(series.values[axis]);
    };
    const auto place = [&](std::size_t axis) { return at(axis, std::clamp(series.values[axis], 0.0, 1.0)); };
    for (std::size_t axis = 0; axis < axes_; ++axis) {
      const std::size_t next = (axis + 1) % axes_;
      if (known(axis) && known(next)) painter_.line(place(axis), place(next), colour, width);
      if (known(axis)) painter_.disc(place(axis), width / 2.0f + 2.5f, colour);
    }
  }

 private:
  Painter& painter_;
  const Theme& theme_;
  std::size_t axes_;
  Point centre_;
  float radius_ = 1.0f;
};

}  // namespace

void paint_radar(Painter& painter, Box box, const std::vector<std::string>& axes,
                 const std::vector<RadarSeries>& all, const Theme& theme) {
  if (axes.size() < min_radar_axes) return;
  Radar radar(painter, box, axes.size(), theme);
  radar.grid(axes);
  // Where lines coincide each one stays visible: those below are wider.
  constexpr float thin = 2.0f;
  constexpr float thick = 8.0f;
  float width = std::min(thick, thin + 2.5f * static_cast<float>(std::max<std::size_t>(all.size(), 1) - 1));
  for (const RadarSeries& series : all) {
    painter.open_group([&] { return series.name; });
    radar.draw(series, width);
    painter.close_group();
    width = std::max(thin, width - 2.5f);
  }
}

}  // namespace driftscope
