#include "core/draw/drift_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.hpp"
#include "core/draw/axis.hpp"
#include "core/draw/verdict_mark.hpp"
#include "core/results/layer_names.hpp"

namespace driftscope {
namespace {

constexpr float marker_size = 6.0f;
constexpr float cross_size = 11.0f;
constexpr float ring_radius = 2.6f;
constexpr float line_width = 1.8f;

struct DriftPlace {
  const DriftChart& chart;
  Box area;
  const LogAxis& axis;

  [[nodiscard]] std::size_t count() const { return chart.last - chart.first; }
  [[nodiscard]] float x(std::size_t at) const {
    if (count() < 2) return area.centre().x;
    const float pad = 6.0f;
    return area.left + pad +
           (area.width() - 2.0f * pad) * static_cast<float>(at - chart.first) /
               static_cast<float>(count() - 1);
  }
  [[nodiscard]] float y(double value) const {
    return area.bottom - static_cast<float>(axis.place(value)) * area.height();
  }
};

const char* drift_unit(DriftMeasure measure) {
  switch (measure) {
    case DriftMeasure::relative: return "RMS error ÷ RMS signal";
    case DriftMeasure::absolute: return "max abs difference";
    case DriftMeasure::ulp: return "max difference, ULP";
    case DriftMeasure::budget: break;
  }
  return "share of the rounding budget";
}

/// The share of a budget is a layer's own: no line leads from one to the next.
bool is_joined(DriftMeasure measure) { return measure != DriftMeasure::budget; }

/// Zeros of values that no line joins would hide the axis and say nothing.
bool is_drawn(double value, bool joined) { return !std::isnan(value) && (joined || value != 0.0); }

/// One or several neighbouring layers, from their lowest to their highest value.
struct Column {
  float x = 0.0f;
  float right = 0.0f;
  double low = not_measured;
  double high = not_measured;
  double fault = not_measured;  ///< the highest of a layer that is a fault
};

double higher(double a, double b) { return std::isnan(a) || b > a ? b : a; }

std::vector<Column> columns_of(const DriftPlace& place, const std::vector<double>& values,
                               const std::vector<bool>& faults, std::size_t step, bool joined) {
  std::vector<Column> columns;
  for (std::size_t i = place.chart.first; i < place.chart.last; i += step) {
    const std::size_t end = std::min(i + step, place.chart.last);
    Column column{place.x(i), end < place.chart.last ? place.x(end) : place.x(i) + 1.0f};
    for (std::size_t k = i; k < end; ++k) {
      if (!is_drawn(values[k], joined)) continue;
      column.low = std::isnan(column.low) ? values[k] : std::min(column.low, values[k]);
      column.high = higher(column.high, values[k]);
      if (faults[k]) column.fault = higher(column.fault, values[k]);
    }
    columns.push_back(column);
  }
  return columns;
}

/// Through the highest values, interrupted where they are missing.
void paint_line(Painter& painter, const DriftPlace& place, const std::vector<Column>& columns, Colour colour,
                float width) {
  std::vector<Point> line;
  const auto flush = [&] {
    if (line.size() == 1)
      painter.disc(line.front(), width * 0.8f, colour);
    else
      painter.polyline(line, colour, width);
    line.clear();
  };
  for (const Column& column : columns) {
    if (std::isnan(column.high))
      flush();
    else
      line.push_back({column.x, place.y(column.high)});
  }
  flush();
}

/// For more layers than pixels: from each column's highest value down to its lowest. A zigzag line would hide
/// everything behind it.
void paint_veil(Painter& painter, const DriftPlace& place, const std::vector<Column>& columns,
                Colour colour) {
  for (const Column& column : columns)
    if (column.high > column.low)
      painter.fill({column.x, place.y(column.high), column.right, place.y(column.low)},
                   with_alpha(colour, 0.16f));
}

/// Names of layers as densely as they remain readable.
void paint_names(Painter& painter, const DriftPlace& place, const std::vector<std::string>& names,
                 const Theme& theme) {
  constexpr std::size_t letters = 24;
  const Box& area = place.area;
  const float gap = painter.text_width("  ", true);
  std::size_t longest = 4;
  for (std::size_t i = place.chart.first; i < place.chart.last; ++i)
    longest = std::max(longest, names[i].size());
  const float room = painter.text_width(std::string(std::min(longest, letters), 'n'), true) + gap;
  const auto max_labels = static_cast<std::size_t>(std::max(1.0f, area.width() / room));
  const std::size_t step = std::max<std::size_t>(1, (place.count() + max_labels - 1) / max_labels);
  for (std::size_t i = place.chart.first; i < place.chart.last; i += step) {
    const float x = place.x(i);
    painter.line({x, area.bottom}, {x, area.bottom + 4.0f}, theme.line, 1.0f);
    const std::string name = elide_start(names[i], letters);
    const float half = painter.text_width(name, true) / 2.0f;
    const float inside = std::max(place.chart.box.left + half, std::min(x, place.chart.box.right - half));
    painter.text({inside, area.bottom + 5.0f + painter.line_height(true) * 0.5f}, name, theme.dim,
                 Anchor::middle, true);
  }
}

void paint_mark(Painter& painter, const DriftPlace& place, const Theme& theme) {
  const DriftMark& mark = *place.chart.mark;
  if (mark.place < place.chart.first || mark.place >= place.chart.last) return;
  const float x = place.x(mark.place);
  const float line = painter.line_height(true);
  painter.line({x, place.area.top - line}, {x, place.area.bottom}, theme.dim, 1.0f);
  const bool left_half = x < place.area.centre().x;
  painter.text({x + (left_half ? 5.0f : -5.0f), place.area.top - line * 0.6f}, mark.text, theme.ink,
               left_half ? Anchor::start : Anchor::end, true);
}

void paint_selected(Painter& painter, const DriftPlace& place, const Drift& drift, const Theme& theme) {
  const auto chosen = static_cast<std::size_t>(
      std::find(drift.layers.begin(), drift.layers.end(), place.chart.selected) - drift.layers.begin());
  if (chosen < place.chart.first || chosen >= place.chart.last) return;
  const float x = place.x(chosen);
  painter.line({x, place.area.top}, {x, place.area.bottom}, theme.accent, 1.5f);
}

void paint_budget(Painter& painter, const DriftPlace& place, const Theme& theme) {
  const float y = place.y(1.0);
  const Colour colour = theme.verdict(Verdict::fault);
  painter.line({place.area.left, y}, {place.area.right, y}, colour, 1.0f);
  painter.text({place.area.right, y - painter.line_height(true) * 0.6f},
               "the budget: values beyond it are faults", colour, Anchor::end, true);
}

/// Each layer by itself: there is room for it, and for what the pointer says of it.
void paint_markers(Painter& painter, const DriftPlace& place, const Drift& drift, const DriftSeries& series,
                   const Theme& theme) {
  const Colour colour = theme.series(series.target);
  const bool joined = is_joined(drift.measure);
  for (std::size_t i = place.chart.first; i < place.chart.last; ++i) {
    const auto titled = [&](double value, const char* what, const auto& paint) {
      const auto title = [&] {
        return fmt::format("{} · {}: {}{}", series.name, drift.names[i], what, format_number(value));
      };
      painter.open_group(title);
      paint(Point{place.x(i), place.y(value)});
      painter.close_group();
    };
    if (is_drawn(series.total[i], joined))
      titled(series.total[i], "", [&](Point at) {
        if (series.faults[i])
          paint_verdict(painter, at, cross_size * painter.unit(), Verdict::fault, theme);
        else
          paint_marker(painter, at, marker_size * painter.unit(), series.target, colour);
      });
    if (place.chart.show_local && is_drawn(series.local[i], false))
      titled(series.local[i], "its own error ",
             [&](Point at) { painter.ring(at, ring_radius, colour, 1.0f); });
  }
}

void paint_many(Painter& painter, const DriftPlace& place, const Drift& drift, const DriftSeries& series,
                std::size_t step, const Theme& theme) {
  const Colour colour = theme.series(series.target);
  const bool joined = is_joined(drift.measure);
  if (place.chart.show_local)
    paint_line(painter, place, columns_of(place, series.local, series.faults, step, false),
               with_alpha(colour, 0.45f), 1.0f);
  const std::vector<Column> columns = columns_of(place, series.total, series.faults, step, joined);
  if (joined) {
    if (step > 1 && !place.chart.compact) paint_veil(painter, place, columns, colour);
    paint_line(painter, place, columns, colour, line_width);
  } else {
    for (const Column& column : columns)
      if (!std::isnan(column.high)) painter.disc({column.x, place.y(column.high)}, 1.4f, colour);
  }
  float free_from = place.area.left;  // crosses do not overlap, however many faults there are
  for (const Column& column : columns) {
    if (std::isnan(column.fault) || column.x < free_from) continue;
    paint_verdict(painter, {column.x, place.y(column.fault)}, cross_size * painter.unit(), Verdict::fault,
                  theme);
    free_from = column.x + cross_size * painter.unit();
  }
}

LogAxis axis_of(const DriftChart& chart, const Drift& drift, const std::vector<const DriftSeries*>& shown) {
  LogAxis axis;
  for (const DriftSeries* series : shown)
    for (std::size_t i = chart.first; i < chart.last; ++i) {
      if (is_drawn(series->total[i], is_joined(drift.measure))) axis.include(series->total[i]);
      if (chart.show_local && is_drawn(series->local[i], false)) axis.include(series->local[i]);
    }
  if (drift.measure == DriftMeasure::budget) axis.include(1.0);
  axis.fix();
  return axis;
}

}  // namespace

Box drift_area(const Painter& painter, const DriftChart& chart) {
  const float line = painter.line_height(true);
  return {chart.box.left + painter.text_width("1e-38  ", true),
          chart.box.top + line * (chart.mark ? 2.6f : 1.4f), chart.box.right - 4.0f,
          chart.box.bottom - line * 1.7f};
}

std::size_t layers_per_point(const Painter& painter, const DriftChart& chart) {
  const float width = chart.compact ? 4.0f : 1.5f;
  const auto points = static_cast<std::size_t>(std::max(1.0f, drift_area(painter, chart).width() / width));
  return std::max<std::size_t>(1, (chart.last - chart.first + points - 1) / points);
}

std::size_t drift_layer_at(const Painter& painter, const DriftChart& chart, Point at) {
  const Box area = drift_area(painter, chart);
  if (!area.contains(at) || chart.last <= chart.first) return no_place;
  const float t = (at.x - area.left - 6.0f) / std::max(1.0f, area.width() - 12.0f);
  const auto span = static_cast<float>(chart.last - chart.first - 1);
  return chart.first + static_cast<std::size_t>(std::lround(std::clamp(t, 0.0f, 1.0f) * span));
}

bool has_total(const DriftSeries& series) {
  return std::ranges::any_of(series.total, [](double value) { return !std::isnan(value); });
}

void paint_drift_key(Painter& painter, Box box, const DriftSeries& series, bool joined, const Theme& theme) {
  const Colour colour = theme.series(series.target);
  const Point middle = box.centre();
  if (!has_total(series)) return painter.ring(middle, ring_radius, colour, 1.0f);
  if (joined) painter.line({box.left, middle.y}, {box.right, middle.y}, colour, line_width);
  paint_marker(painter, middle, marker_size * painter.unit(), series.target, colour);
}

void paint_drift(Painter& painter, const DriftChart& chart, const Drift& drift, const Theme& theme) {
  const Box area = drift_area(painter, chart);
  if (chart.last <= chart.first || area.height() < 20.0f) return;
  std::vector<const DriftSeries*> shown;
  for (const DriftSeries& series : drift.series)
    if (series.target >= chart.hidden.size() || !chart.hidden[series.target]) shown.push_back(&series);
  const LogAxis axis = axis_of(chart, drift, shown);
  const DriftPlace place{chart, area, axis};
  paint_ticks(painter, area, axis.ticks(), theme);
  painter.text({chart.box.left, chart.box.top + painter.line_height(true) * 0.5f}, drift_unit(drift.measure),
               theme.dim, Anchor::start, true);
  paint_names(painter, place, drift.names, theme);
  if (chart.mark) paint_mark(painter, place, theme);
  paint_selected(painter, place, drift, theme);
  if (drift.measure == DriftMeasure::budget) paint_budget(painter, place, theme);
  const bool few = static_cast<float>(place.count()) * 7.0f * painter.unit() <= area.width();
  for (const DriftSeries* series : shown) {
    if (!few) {
      paint_many(painter, place, drift, *series, layers_per_point(painter, chart), theme);
      continue;
    }
    if (is_joined(drift.measure))
      paint_line(painter, place, columns_of(place, series->total, series->faults, 1, true),
                 theme.series(series->target), line_width);
    paint_markers(painter, place, drift, *series, theme);
  }
}

}  // namespace driftscope
