#include "core/draw/memory_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.hpp"
#include "core/bench/memory_growth.hpp"
#include "core/draw/axis.hpp"
#include "core/draw/verdict_mark.hpp"
#include "core/results/layer_names.hpp"

namespace driftscope {
namespace {

Box memory_area(const Painter& painter, Box box) {
  const float line = painter.line_height(true);
  return {box.left + painter.text_width("888.8 MB ", true), box.top + line * 0.6f, box.right - 8.0f,
          box.bottom - line * 1.5f};
}

}  // namespace

void paint_memory(Painter& painter, Box box, const std::vector<MemoryCurve>& curves, const Theme& theme) {
  const Box area = memory_area(painter, box);
  double from = 0.0;
  double to = 1.0;
  std::int64_t peak_bytes = 0;
  for (const MemoryCurve& one : curves)
    for (const MemoryRecord& sample : one.samples) {
      from = std::min(from, sample.t_ms);
      to = std::max(to, sample.t_ms);
      peak_bytes = std::max(peak_bytes, sample.bytes);
    }
  const LinearAxis axis = linear_axis(static_cast<double>(peak_bytes));
  paint_ticks(painter, area, axis.ticks(format_bytes), theme);
  const auto x = [&](double ms) {
    return area.left + static_cast<float>((ms - from) / (to - from)) * area.width();
  };
  constexpr int time_steps = 6;
  const LinearAxis time = linear_axis(to - from, time_steps);
  const double first = std::ceil(from / time.step);
  // Counted, since adding a step to a time that is far larger does not change it.
  for (int i = 0; i <= time_steps; ++i) {
    const double ms = (first + i) * time.step;
    if (ms > to + 1e-9) break;
    painter.line({x(ms), area.bottom}, {x(ms), area.bottom + 4.0f}, theme.line, 1.0f);
    const std::string label = ms == 0.0 ? "0" : fmt::format("{:g} ms", ms);
    const float middle = std::min(x(ms), box.right - painter.text_width(label, true) / 2.0f);
    painter.text({middle, area.bottom + 5.0f + painter.line_height(true) * 0.5f}, label, theme.dim,
                 Anchor::middle, true);
  }
  for (const MemoryCurve& one : curves) {
    const Colour colour = theme.series(one.target);
    std::vector<Point> line;
    for (const MemoryRecord& sample : one.samples)
      line.push_back(
          {x(sample.t_ms),
           area.bottom - static_cast<float>(axis.place(static_cast<double>(sample.bytes))) * area.height()});
    painter.polyline(line, colour, 1.8f);
    if (line.size() <= 60)
      for (const Point& at : line) paint_marker(painter, at, 6.0f * painter.unit(), one.target, colour);
    // The marker identifies the target; if there are several kinds each is named once.
    const auto same_kind = [&](const MemoryCurve& other) { return other.kind == one.kind; };
    const bool several = !std::ranges::all_of(curves, same_kind);
    if (line.empty() || !several || &*std::ranges::find_if(curves, same_kind) != &one) continue;
    const std::string name = memory_kind_text(one.kind);
    const bool right_side = line.back().x > area.centre().x;
    painter.text({line.back().x + (right_side ? -6.0f : 6.0f),
                  std::max(area.top + 6.0f, line.back().y - painter.line_height(true) * 0.7f)},
                 name, theme.dim, right_side ? Anchor::end : Anchor::start, true);
  }
}

void paint_alive(Painter& painter, Box box, const AliveValues& values, std::size_t selected,
                 const Theme& theme) {
  const std::vector<std::int64_t>& alive = values.bytes;
  if (alive.empty()) return;
  const Box area = memory_area(painter, box);
  const std::int64_t peak_bytes = *std::max_element(alive.begin(), alive.end());
  const LinearAxis axis = linear_axis(static_cast<double>(peak_bytes), 4);
  paint_ticks(painter, area, axis.ticks(format_bytes), theme);
  const float step = area.width() / static_cast<float>(alive.size());
  const auto columns = static_cast<std::size_t>(std::max(1.0f, area.width()));
  const std::size_t group = std::max<std::size_t>(1, alive.size() / columns);
  for (std::size_t i = 0; i < alive.size(); i += group) {
    std::int64_t value = 0;
    bool chosen = false;
    for (std::size_t k = i; k < std::min(i + group, alive.size()); ++k) {
      value = std::max(value, alive[k]);
      chosen = chosen || values.layers[k] == selected;
    }
    const float left = area.left + static_cast<float>(i) * step;
    const float width = std::max(1.0f, step * static_cast<float>(group) - (step > 4.0f ? 1.0f : 0.0f));
    const float top =
        area.bottom - static_cast<float>(axis.place(static_cast<double>(value))) * area.height();
    painter.fill({left, top, left + width, area.bottom},
                 chosen ? theme.accent : mix(theme.panel, theme.accent, 0.4f));
  }
  painter.text(
      {area.left, area.bottom + 5.0f + painter.line_height(true) * 0.5f},
      fmt::format("largest while {} runs: {}", elide_start(values.peak_name, 40), format_bytes(peak_bytes)),
      theme.dim, Anchor::start, true);
}

void paint_growth(Painter& painter, Box box, std::span<const double> runs, std::span<const double> bytes,
                  Colour colour) {
  if (runs.empty() || runs.size() != bytes.size()) return;
  const auto [lowest, highest] = std::ranges::minmax(bytes);
  const double span = std::max(highest - lowest, std::max(0.01 * highest, 1.0));
  const double last = std::max(runs.back(), 1.0);
  std::vector<Point> line;
  for (std::size_t i = 0; i < runs.size(); ++i)
    line.push_back({box.left + box.width() * static_cast<float>(runs[i] / last),
                    box.bottom - box.height() * static_cast<float>((bytes[i] - lowest) / span)});
  painter.polyline(line, colour, 1.5f);
}

std::size_t alive_place_at(const Painter& painter, Box box, std::size_t layers, Point at) {
  const Box area = memory_area(painter, box);
  if (!area.contains(at) || layers == 0) return no_place;
  const auto place = static_cast<std::size_t>((at.x - area.left) / area.width() * static_cast<float>(layers));
  return std::min(place, layers - 1);
}

}  // namespace driftscope
