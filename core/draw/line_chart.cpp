#include "core/draw/line_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/draw/axis.hpp"

namespace driftscope {
namespace {

constexpr double log_above_span = 100.0;    // largest ÷ least value
constexpr float lines_margin_left = 62.0f;  // units, like the next
constexpr float lines_margin_bottom = 34.0f;
constexpr std::size_t max_line_points = 2'000;  // of a line: about two a pixel

/// From the least to the largest value, in steps of 1, 2 or 5 times a power of ten.
class SpanAxis {
 public:
  SpanAxis(double low, double high, int steps, double least_step = 0.0) {
    if (!(high > low)) {
      const double room = low == 0.0 ? 1.0 : 0.05 * std::fabs(low);
      low -= room;
      high += room;
    }
    step_ = std::max(linear_axis(high - low, steps).step, least_step);
    low_ = std::floor(low / step_ + 1e-9) * step_;
    high_ = std::ceil(high / step_ - 1e-9) * step_;
    if (!(high_ > low_)) high_ = low_ + step_;
  }
  [[nodiscard]] double place(double value) const { return (value - low_) / (high_ - low_); }
  [[nodiscard]] std::vector<Tick> ticks() const {
    std::vector<Tick> ticks;
    const auto count = std::llround(std::min(50.0, (high_ - low_) / step_));
    for (long long i = 0; i <= count; ++i) {
      const double value = low_ + static_cast<double>(i) * step_;
      ticks.push_back({place(value), fmt::format("{:.5g}", std::fabs(value) < 1e-9 * step_ ? 0.0 : value)});
    }
    return ticks;
  }

 private:
  double low_, high_, step_;
};

struct Extent {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  void include(const std::vector<double>& values) {
    for (const double value : values)
      if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  }
  [[nodiscard]] bool any() const { return low <= high; }
};

Extent extent_of_y(const std::vector<ChartLine>& lines) {
  Extent extent;
  for (const ChartLine& line : lines)
    for (const std::vector<double>* const values : {&line.y, &line.low, &line.high}) extent.include(*values);
  return extent;
}

/// Epochs: half of one is no place.
bool are_whole(const std::vector<ChartLine>& lines) {
  return std::ranges::all_of(lines, [](const ChartLine& line) {
    return std::ranges::all_of(line.x, [](double x) { return x == std::floor(x); });
  });
}

/// Rows of labels, each with a piece of its line; the height that they take.
float paint_line_legend(Painter& painter, Box box, const std::vector<ChartLine>& lines, const Theme& theme) {
  const float unit = painter.unit();
  const float row = painter.line_height(true) + 4.0f * unit;
  float x = box.left;
  float y = box.top + row / 2.0f;
  for (const ChartLine& line : lines) {
    const float width = 40.0f * unit + painter.text_width(line.label, true);
    if (x > box.left && x + width > box.right) x = box.left, y += row;
    painter.line({x, y}, {x + 18.0f * unit, y}, theme.series(line.series), 2.0f);
    painter.text({x + 24.0f * unit, y}, line.label, theme.ink, Anchor::start, true);
    x += width;
  }
  return y + row / 2.0f - box.top;
}

/// The axis of steps: the same for painting and for finding.
SpanAxis step_axis(const std::vector<ChartLine>& lines) {
  Extent extent;
  for (const ChartLine& line : lines) extent.include(line.x);
  return {extent.low, extent.high, 8, are_whole(lines) ? 1.0 : 0.0};
}

}  // namespace

bool is_logarithmic(const LineChart& chart, const std::vector<ChartLine>& lines) {
  const Extent extent = extent_of_y(lines);
  return chart.may_be_logarithmic && extent.any() && extent.low > 0.0 &&
         extent.high / extent.low > log_above_span;
}

Box paint_lines(Painter& painter, const LineChart& chart, const std::vector<ChartLine>& lines,
                const Theme& theme) {
  const float unit = painter.unit();
  const float legend = paint_line_legend(painter, chart.box, lines, theme);
  const Box area = {chart.box.left + lines_margin_left * unit, chart.box.top + legend + 10.0f * unit,
                    chart.box.right - 12.0f * unit, chart.box.bottom - lines_margin_bottom * unit};
  Extent x_extent;
  for (const ChartLine& line : lines) x_extent.include(line.x);
  const Extent y_extent = extent_of_y(lines);
  if (!x_extent.any() || !y_extent.any() || area.width() < 10.0f || area.height() < 10.0f) {
    painter.text(chart.box.centre(), "no finite values", theme.dim, Anchor::middle, true);
    return {};
  }
  const bool logarithmic = is_logarithmic(chart, lines);
  LogAxis log_axis;
  for (const double value : {y_extent.low, y_extent.high})
    if (logarithmic) log_axis.include(value);
  log_axis.fix();
  const SpanAxis y_axis(y_extent.low, y_extent.high, 5);
  const SpanAxis x_axis = step_axis(lines);
  paint_ticks(painter, area, logarithmic ? log_axis.ticks() : y_axis.ticks(), theme);
  for (const Tick& tick : x_axis.ticks()) {
    const float x = area.left + static_cast<float>(tick.place) * area.width();
    painter.line({x, area.bottom}, {x, area.bottom + 4.0f * unit}, theme.line, 1.0f);
    painter.text({x, area.bottom + 5.0f * unit + painter.line_height(true) * 0.5f}, tick.text, theme.dim,
                 Anchor::middle, true);
  }
  painter.text({area.centre().x, chart.box.bottom - painter.line_height(true) * 0.5f}, chart.x_title,
               theme.dim, Anchor::middle, true);
  const auto at = [&](double x, double y) -> Point {
    const double place = logarithmic ? log_axis.place(y) : y_axis.place(y);
    return {area.left + static_cast<float>(x_axis.place(x)) * area.width(),
            area.bottom - static_cast<float>(place) * area.height()};
  };
  painter.clip({area.left - 2.0f, area.top - 2.0f, area.right + 2.0f, area.bottom + 2.0f});
  for (const ChartLine& line : lines) {
    const std::size_t stride = std::max<std::size_t>(1, line.x.size() / max_line_points);
    const Colour colour = theme.series(line.series);
    for (std::size_t i = 0; i + stride < line.low.size() && line.low.size() == line.x.size(); i += stride) {
      const std::size_t k = i + stride;
      const double corners[] = {line.low[i], line.high[i], line.low[k], line.high[k]};
      if (!std::ranges::all_of(corners, [](double value) { return std::isfinite(value); })) continue;
      const Point band[] = {at(line.x[i], line.low[i]), at(line.x[k], line.low[k]),
                            at(line.x[k], line.high[k]), at(line.x[i], line.high[i])};
      painter.polygon(band, with_alpha(colour, 0.16f));
    }
    const auto draw_line = [&](const std::vector<double>& values, Colour ink, float width) {
      std::vector<Point> points;
      const auto flush = [&] {
        if (points.size() == 1)
          painter.disc(points.front(), line.x.size() == 1 ? 3.0f : width, ink);
        else if (points.size() > 1)
          painter.polyline(points, ink, width);
        points.clear();
      };
      for (std::size_t i = 0; i < std::min(values.size(), line.x.size()); i += stride) {
        if (std::isfinite(values[i]))
          points.push_back(at(line.x[i], values[i]));
        else
          flush();
      }
      flush();
    };
    for (const std::vector<double>* const edge : {&line.low, &line.high})
      draw_line(*edge, with_alpha(colour, 0.3f), 1.0f);
    draw_line(line.y, colour, 1.8f);
  }
  painter.unclip();
  return area;
}

std::optional<ChartStep> nearest_step(const std::vector<ChartLine>& lines, Box area, float x) {
  if (!(area.width() > 0.0f)) return {};
  const SpanAxis axis = step_axis(lines);
  std::optional<ChartStep> nearest;
  for (const ChartLine& line : lines)
    for (const double step : line.x) {
      const float at = area.left + static_cast<float>(axis.place(step)) * area.width();
      if (!nearest || std::fabs(at - x) < std::fabs(nearest->x - x)) nearest = {step, at};
    }
  return nearest;
}

std::optional<std::size_t> place_of_step(const ChartLine& line, double step) {
  const auto found = std::ranges::lower_bound(line.x, step);
  if (found == line.x.end() || *found != step) return {};
  return static_cast<std::size_t>(found - line.x.begin());
}

}  // namespace driftscope
