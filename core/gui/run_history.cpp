#include "core/gui/run_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.hpp"
#include "core/draw/axis.hpp"

namespace driftscope::gui {
namespace {

Colour change_colour(Change change, const Theme& theme) {
  if (change == Change::slower) return theme.verdict(Verdict::fault);
  return change == Change::faster ? theme.accent : theme.dim;
}

// Labels at the ends stay inside the chart.
Anchor label_anchor(std::size_t place, std::size_t count) {
  if (count == 1) return Anchor::middle;
  if (place == 0) return Anchor::start;
  return place + 1 == count ? Anchor::end : Anchor::middle;
}

}  // namespace

RunTrend make_trend(std::string title, std::string where, std::span<const BuildTimes> builds,
                    std::span<const std::string> first_seen, double confidence) {
  RunTrend trend{std::move(title), std::move(where), {}};
  const auto changes = classify_changes(builds, confidence);
  for (std::size_t i = 0; i < builds.size(); ++i) {
    if (builds[i].medians_ns.empty()) continue;
    trend.points.push_back({builds[i].build, i < first_seen.size() ? first_seen[i] : "",
                            median(builds[i].medians_ns), changes[i].change, changes[i].times_as_long.value});
  }
  return trend;
}

std::string change_words(const TrendPoint& point) {
  const double percent = 100.0 * (point.times_as_long - 1.0);
  switch (point.change) {
    case Change::first: return "first";
    case Change::unknown: return fmt::format("{:+.1f} %, not judged", percent);
    case Change::same: return fmt::format("{:+.1f} %, within the noise", percent);
    case Change::slower: return fmt::format("slower, {:+.1f} %", percent);
    case Change::faster: break;
  }
  return fmt::format("faster, {:+.1f} %", percent);
}

void paint_trend(Painter& painter, Box box, const RunTrend& trend, const Theme& theme) {
  if (trend.points.empty()) return;
  const float line = painter.line_height(true);
  const Box area{box.left + painter.text_width("888.8 ms ", true), box.top + line * 0.6f, box.right - 10.0f,
                 box.bottom - line * 1.5f};
  double slowest_ns = 0.0;
  for (const TrendPoint& point : trend.points) slowest_ns = std::max(slowest_ns, point.median_ns);
  const LinearAxis axis = linear_axis(slowest_ns, 4);
  paint_ticks(painter, area, axis.ticks(format_ns), theme);
  std::vector<Point> series;
  const auto count = trend.points.size();
  for (std::size_t i = 0; i < count; ++i) {
    const float t = count > 1 ? static_cast<float>(i) / static_cast<float>(count - 1) : 0.5f;
    series.push_back(
        {area.left + 8.0f + t * (area.width() - 16.0f),
         area.bottom - static_cast<float>(axis.place(trend.points[i].median_ns)) * area.height()});
  }
  painter.polyline(series, theme.accent, 1.8f);
  const float room = painter.text_width("abcdef12 ", true);
  const auto step = std::max<std::size_t>(
      1, static_cast<std::size_t>(static_cast<float>(count) * room / std::max(1.0f, area.width())) + 1);
  for (std::size_t i = 0; i < count; ++i) {
    const TrendPoint& point = trend.points[i];
    painter.disc(series[i], 3.5f,
                 point.change == Change::slower ? theme.verdict(Verdict::fault) : theme.accent);
    if (point.change == Change::slower || point.change == Change::faster)
      painter.text({series[i].x, series[i].y - line * 0.8f}, change_words(point),
                   change_colour(point.change, theme), label_anchor(i, count), true);
    if (i % step == 0)
      painter.text({series[i].x, area.bottom + 5.0f + line * 0.5f}, elide(point.build, 9), theme.dim,
                   label_anchor(i, count), true);
  }
}

Table trend_table(const std::vector<RunTrend>& trends) {
  Table table = {{"what", "where", "build", "first measured", "median_ns", "change", "times_as_long"}};
  for (const RunTrend& trend : trends)
    for (const TrendPoint& point : trend.points)
      table.push_back({trend.title, trend.where, point.build, point.first_seen,
                       fmt::format("{:.0f}", point.median_ns), change_words(point),
                       fmt::format("{:.4f}", point.times_as_long)});
  return table;
}

}  // namespace driftscope::gui
