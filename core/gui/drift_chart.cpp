#include "core/gui/drift_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/draw/verdict_mark.hpp"
#include "core/results/layer_names.hpp"
#include "core/results/layer_rank.hpp"

namespace driftscope::gui {
namespace {

struct DriftPlace {
  const DriftChart& chart;
  Box area;
  const LogAxis& axis;

  [[nodiscard]] float x(std::size_t at) const {
    const std::size_t count = chart.last - chart.first;
    if (count < 2) return area.centre().x;
    const float pad = 6.0f;
    return area.left + pad +
           (area.width() - 2.0f * pad) * static_cast<float>(at - chart.first) / static_cast<float>(count - 1);
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

/// A line through every `step`th value, interrupted where values are missing.
void paint_line(Painter& painter, const DriftPlace& place, const std::vector<double>& values,
                std::size_t step, Colour colour, float width) {
  std::vector<Point> line;
  const auto flush = [&] {
    painter.polyline(line, colour, width);
    line.clear();
  };
  for (std::size_t i = place.chart.first; i < place.chart.last; i += step) {
    if (std::isnan(values[i]))
      flush();
    else
      line.push_back({place.x(i), place.y(values[i])});
  }
  flush();
}

/// For more layers than pixels: for each column of pixels the highest of its `step` values, as a
/// line, above a veil down to the lowest if `veiled`. A zigzag line would hide everything behind it.
void paint_columns(Painter& painter, const DriftPlace& place, const std::vector<double>& values,
                   std::size_t step, Colour colour, float width, bool veiled) {
  std::vector<double> highest(values.size(), not_measured);
  const Colour veil = with_alpha(colour, 0.16f);
  for (std::size_t i = place.chart.first; i < place.chart.last; i += step) {
    const std::size_t end = std::min(i + step, place.chart.last);
    double low = not_measured;
    double high = not_measured;
    for (std::size_t k = i; k < end; ++k) {
      if (std::isnan(values[k])) continue;
      low = std::isnan(low) ? values[k] : std::min(low, values[k]);
      high = std::isnan(high) ? values[k] : std::max(high, values[k]);
    }
    if (std::isnan(low)) continue;
    highest[i] = high;
    const float right = end < place.chart.last ? place.x(end) : place.x(i) + 1.0f;
    if (high > low && veiled) painter.fill({place.x(i), place.y(high), right, place.y(low)}, veil);
  }
  paint_line(painter, place, highest, step, colour, width);
}

void paint_values(Painter& painter, const DriftPlace& place, const std::vector<double>& values, Colour colour,
                  float width, bool veiled) {
  const auto columns = static_cast<std::size_t>(std::max(1.0f, place.area.width() / 1.5f));
  const std::size_t step = (place.chart.last - place.chart.first) / columns;
  if (step > 1)
    paint_columns(painter, place, values, step, colour, width, veiled);
  else
    paint_line(painter, place, values, 1, colour, width);
}

/// Names of layers as densely as they remain readable.
void paint_names(Painter& painter, const DriftPlace& place, const Snapshot& snapshot, const Drift& drift,
                 const Theme& theme) {
  constexpr std::size_t letters = 24;
  const Box& area = place.area;
  const auto label_of = [&](std::size_t at) -> const std::string& {
    const Layer& layer = snapshot.layers[drift.layers[at]];
    return layer.label.empty() ? layer.node : layer.label;
  };
  const float gap = painter.text_width("  ", true);
  const std::size_t count = place.chart.last - place.chart.first;
  std::size_t longest = 4;
  for (std::size_t i = place.chart.first; i < place.chart.last; ++i)
    longest = std::max(longest, label_of(i).size());
  const float room = painter.text_width(std::string(std::min(longest, letters), 'n'), true) + gap;
  const auto max_labels = static_cast<std::size_t>(std::max(1.0f, area.width() / room));
  const std::size_t step = std::max<std::size_t>(1, (count + max_labels - 1) / max_labels);
  for (std::size_t i = place.chart.first; i < place.chart.last; i += step) {
    const float x = place.x(i);
    painter.line({x, area.bottom}, {x, area.bottom + 4.0f}, theme.line, 1.0f);
    const std::string name = elide_start(label_of(i), letters);
    const float half = painter.text_width(name, true) / 2.0f;
    const float inside = std::max(place.chart.box.left + half, std::min(x, place.chart.box.right - half));
    painter.text({inside, area.bottom + 5.0f + painter.line_height(true) * 0.5f}, name, theme.dim,
                 Anchor::middle, true);
  }
}

void paint_axes(Painter& painter, const DriftPlace& place, DriftMeasure measure, const Theme& theme) {
  const Box& area = place.area;
  for (const Tick& tick : place.axis.ticks()) {
    const float y = area.bottom - static_cast<float>(tick.place) * area.height();
    painter.line({area.left, y}, {area.right, y}, theme.grid, 1.0f);
    painter.text({area.left - 8.0f, y}, tick.text, theme.dim, Anchor::end, true);
  }
  painter.line({area.left, area.bottom}, {area.right, area.bottom}, theme.line, 1.0f);
  painter.text({place.chart.box.left, place.chart.box.top + painter.line_height(true) * 0.5f},
               drift_unit(measure), theme.dim, Anchor::start, true);
}

/// Whether error travels through the layer: not through constants, indices, sizes and conditions.
bool carries_error(const Snapshot& snapshot, std::size_t layer) {
  const DType dtype = snapshot.layers[layer].dtype;
  return !is_folded(snapshot, layer) && dtype != DType::int64 && dtype != DType::int32 &&
         dtype != DType::boolean;
}

double total_error(const Cell& cell, DriftMeasure measure) {
  switch (measure) {
    case DriftMeasure::relative: return relative_error(cell, MetricSource::compare);
    case DriftMeasure::absolute: return cell[compared_metric("max_abs")];
    case DriftMeasure::ulp: return cell[compared_metric("max_ulp")];
    case DriftMeasure::budget: break;
  }
  return cell[verified_metric("budget_used")];
}

double local_error(const Cell& cell, DriftMeasure measure) {
  switch (measure) {
    case DriftMeasure::relative: return relative_error(cell, MetricSource::verify);
    case DriftMeasure::absolute: return cell[verified_metric("max_abs")];
    default: return not_measured;
  }
}

}  // namespace

Drift drift_of(const Snapshot& snapshot, DriftMeasure measure) {
  Drift drift;
  for (std::size_t i = 0; i < snapshot.layers.size(); ++i)
    if (carries_error(snapshot, i)) drift.layers.push_back(i);
  // A target's own budget needs no left target to compare with.
  const std::size_t first = measure == DriftMeasure::budget ? 0 : 1;
  for (std::size_t t = first; t < snapshot.targets.size(); ++t) {
    DriftSeries& series = drift.series.emplace_back();
    series.target = t;
    for (const std::size_t layer : drift.layers) {
      const Cell cell = snapshot.cell(layer, t);
      series.total.push_back(total_error(cell, measure));
      series.local.push_back(local_error(cell, measure));
    }
  }
  return drift;
}

double inherited_error(double total, double local) {
  if (std::isnan(total) || std::isnan(local)) return not_measured;
  if (std::isinf(total)) return std::isinf(local) ? 0.0 : total;
  return std::max(0.0, total - local);
}

std::size_t born_at(const DriftSeries& series) {
  std::size_t born = no_place;
  for (std::size_t i = 0; i < series.total.size(); ++i) {
    if (!(series.total[i] > 0.0) || !(series.local[i] > 0.0)) continue;
    if (born == no_place || series.local[i] > series.local[born]) born = i;
  }
  return born;
}

Box drift_area(const Painter& painter, const DriftChart& chart) {
  const float line = painter.line_height(true);
  return {chart.box.left + painter.text_width("1e-38  ", true), chart.box.top + line * 1.4f,
          chart.box.right - 4.0f, chart.box.bottom - line * 1.7f};
}

std::size_t drift_layer_at(const Painter& painter, const DriftChart& chart, Point at) {
  const Box area = drift_area(painter, chart);
  if (!area.contains(at) || chart.last <= chart.first) return no_place;
  const float t = (at.x - area.left - 6.0f) / std::max(1.0f, area.width() - 12.0f);
  const auto span = static_cast<float>(chart.last - chart.first - 1);
  return chart.first + static_cast<std::size_t>(std::lround(std::clamp(t, 0.0f, 1.0f) * span));
}

void paint_drift(Painter& painter, const DriftChart& chart, const Snapshot& snapshot, const Drift& drift,
                 DriftMeasure measure, const Theme& theme) {
  const Box area = drift_area(painter, chart);
  if (chart.last <= chart.first || area.height() < 20.0f) return;
  LogAxis axis;
  const auto shown = [&](const DriftSeries& one) {
    return one.target >= chart.hidden.size() || !chart.hidden[one.target];
  };
  for (const DriftSeries& one : drift.series) {
    if (!shown(one)) continue;
    for (std::size_t i = chart.first; i < chart.last; ++i) {
      axis.include(one.total[i]);
      if (chart.show_local) axis.include(one.local[i]);
    }
  }
  if (measure == DriftMeasure::budget) axis.include(1.0);
  axis.fix();
  const DriftPlace place{chart, area, axis};
  paint_axes(painter, place, measure, theme);
  paint_names(painter, place, snapshot, drift, theme);
  const auto chosen = static_cast<std::size_t>(
      std::find(drift.layers.begin(), drift.layers.end(), chart.selected) - drift.layers.begin());
  if (chosen >= chart.first && chosen < chart.last) {
    const float x = place.x(chosen);
    painter.line({x, area.top}, {x, area.bottom}, theme.accent, 1.5f);
  }
  if (measure == DriftMeasure::budget) {
    const float y = place.y(1.0);
    painter.line({area.left, y}, {area.right, y}, theme.verdict(Verdict::fault), 1.0f);
    painter.text({area.right, y - painter.line_height(true) * 0.6f},
                 "the budget: values beyond it are faults", theme.verdict(Verdict::fault), Anchor::end, true);
  }
  const bool few = chart.last - chart.first <= 160;
  for (const DriftSeries& one : drift.series) {
    if (!shown(one)) continue;
    const Colour colour = theme.series(one.target);
    if (chart.show_local && !few)
      paint_values(painter, place, one.local, with_alpha(colour, 0.45f), 1.0f, false);
    paint_values(painter, place, one.total, colour, 1.8f, true);
    for (std::size_t i = chart.first; i < chart.last; ++i) {
      if (std::isnan(one.total[i])) continue;
      const bool fault = snapshot.cell(drift.layers[i], one.target).verdict == Verdict::fault;
      const Point at{place.x(i), place.y(one.total[i])};
      if (fault) {
        paint_verdict(painter, at, 11.0f * painter.unit(), Verdict::fault, theme);
      } else if (few) {
        paint_marker(painter, at, 6.0f * painter.unit(), one.target, colour);
      }
      if (few && chart.show_local && !std::isnan(one.local[i]))
        painter.ring({at.x, place.y(one.local[i])}, 2.6f, colour, 1.0f);
    }
  }
}

}  // namespace driftscope::gui
