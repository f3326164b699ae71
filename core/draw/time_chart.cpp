#include "core/draw/time_chart.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/results/layer_names.hpp"

namespace driftscope {
namespace {

Box span_box(const Painter& painter, const FlameView& view, const FlameSpan& span) {
  const double scale = static_cast<double>(view.box.width()) /
                       static_cast<double>(std::max<std::int64_t>(1, view.to_ns - view.from_ns));
  const auto x = [&](std::int64_t ns) {
    return view.box.left + static_cast<float>(static_cast<double>(ns - view.from_ns) * scale);
  };
  const float level = flame_level_height(painter);
  const float top = view.box.top + static_cast<float>(span.depth) * level;
  return {x(span.begin_ns), top, x(span.end_ns), top + level - 1.0f};
}

// Shades of one colour, which distinguish neighbours without a meaning of their own.
Colour span_colour(const FlameSpan& span, const Theme& theme) {
  std::uint32_t hash = 2166136261u;
  for (const char c : span.name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  const float shade = 0.12f + 0.30f * static_cast<float>(hash % 97) / 97.0f;
  return mix(theme.panel, theme.accent, span.layer == no_place ? shade * 0.6f : shade + 0.12f);
}

}  // namespace

std::string ratio_text(double ratio) {
  return ratio < 9.95 ? fmt::format("×{:.2g}", ratio) : fmt::format("×{:.0f}", ratio);
}

float time_row_height(const Painter& painter, std::size_t targets) {
  return std::max(painter.line_height() + 6.0f,
                  static_cast<float>(targets) * painter.line_height(true) * 0.95f + 6.0f);
}

void paint_times(Painter& painter, Box row, const std::vector<std::int64_t>& times, std::int64_t longest_ns,
                 const Theme& theme) {
  const float step = (row.height() - 6.0f) / static_cast<float>(times.size());
  const float numbers = painter.text_width("888.8 ms  ×88.8", true) + 8.0f;
  const float bar_width = std::max(0.0f, row.width() - numbers);
  for (std::size_t t = 0; t < times.size(); ++t) {
    const std::int64_t ns = times[t];
    const float y = row.top + 3.0f + (static_cast<float>(t) + 0.5f) * step;
    const float width =
        longest_ns > 0
            ? bar_width * static_cast<float>(static_cast<double>(ns) / static_cast<double>(longest_ns))
            : 0.0f;
    if (ns > 0)
      painter.fill({row.left, y - step * 0.36f, row.left + std::max(1.5f, width), y + step * 0.36f},
                   theme.series(t), 1.5f);
    std::string text = format_ns(ns);
    if (t > 0 && ns > 0 && times[0] > 0)
      text += "  " + ratio_text(static_cast<double>(ns) / static_cast<double>(times[0]));
    painter.text({row.left + width + 6.0f, y}, text, ns > 0 ? theme.ink : theme.dim, Anchor::start, true);
  }
}

float time_rows_height(const Painter& painter, const std::vector<TimeRow>& rows) {
  return rows.empty()
             ? 0.0f
             : time_row_height(painter, rows.front().times_ns.size()) * static_cast<float>(rows.size());
}

void paint_time_rows(Painter& painter, Box box, const std::vector<TimeRow>& rows, std::int64_t longest_ns,
                     const Theme& theme) {
  const float height = time_rows_height(painter, rows) / static_cast<float>(rows.size());
  const float names = 0.25f * box.width();
  const auto letters = static_cast<std::size_t>(names / (painter.text_width("nnnnnnnnnn", true) / 10.0f));
  float top = box.top;
  for (const TimeRow& row : rows) {
    painter.text({box.left + names - 10.0f, top + height / 2.0f},
                 elide_start(row.name, std::max<std::size_t>(3, letters)), theme.ink, Anchor::end, true);
    paint_times(painter, {box.left + names, top, box.right, top + height}, row.times_ns, longest_ns, theme);
    top += height;
  }
}

float flame_level_height(const Painter& painter) { return painter.line_height(true) + 4.0f; }

void paint_flame(Painter& painter, const FlameView& view, const Flame& flame, const Theme& theme) {
  painter.clip(view.box);
  float drawn_to = view.box.left;
  for (const FlameSpan& span : flame.spans) {
    if (span.end_ns < view.from_ns || span.begin_ns > view.to_ns) continue;
    Box box = span_box(painter, view, span);
    // Spans thinner than a pixel are drawn once per pixel.
    if (box.width() < 0.7f && span.layer != no_place) {
      if (box.right < drawn_to + 0.7f) continue;
      drawn_to = box.right;
    }
    box.left = std::max(box.left, view.box.left);
    box.right = std::min(box.right, view.box.right);
    const bool selected = span.layer != no_place && span.layer == view.selected;
    const Colour colour = selected ? theme.accent : span_colour(span, theme);
    painter.fill({box.left, box.top,
                  std::max(box.right - (box.width() > 3.0f ? 1.0f : 0.0f), box.left + 0.7f), box.bottom},
                 colour, box.width() > 6.0f ? 2.0f : 0.0f);
    if (box.width() < 26.0f) continue;
    const auto letters =
        static_cast<std::size_t>((box.width() - 8.0f) / (painter.text_width("nnnnnnnnnn", true) / 10.0f));
    if (letters >= 2)
      painter.text({box.left + 4.0f, box.centre().y}, elide_start(span.name, letters),
                   selected ? theme.on_accent : theme.ink, Anchor::start, true);
  }
  painter.unclip();
}

const FlameSpan* flame_at(const Painter& painter, const FlameView& view, const Flame& flame, Point at) {
  if (!view.box.contains(at)) return nullptr;
  for (const FlameSpan& span : flame.spans)
    if (span_box(painter, view, span).contains(at)) return &span;
  return nullptr;
}

}  // namespace driftscope
