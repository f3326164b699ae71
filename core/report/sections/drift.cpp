// Error against depth.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.hpp"
#include "core/draw/drift_chart.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/report/section.hpp"
#include "core/results/layer_names.hpp"

namespace driftscope::sections::drift {
namespace {

/// The rows along which error travels: without constants, indices, sizes and conditions.
std::vector<std::size_t> error_path(const LayerTable& layers) {
  const auto is_index = [&](std::size_t row) {
    for (std::size_t t = 0; t < layers.targets().size(); ++t)
      if (const Tensor* tensor = layers.tensor(row, t)) return !carries_error(tensor->dtype());
    return false;
  };
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < layers.rows().size(); ++row)
    if (!layers.is_folded(row) && !is_index(row)) rows.push_back(row);
  return rows;
}

/// First fault, else first divergence, over all targets.
std::optional<DriftMark> mark_of(const LayerTable& layers, const Drift& drift) {
  for (std::size_t i = 0; i < drift.layers.size(); ++i)
    for (std::size_t t = 0; t < layers.targets().size(); ++t)
      if (layers.cell(drift.layers[i], t).verdict == Verdict::fault)
        return DriftMark{i, "✗ first fault: " + drift.names[i]};
  for (std::size_t i = 0; i < drift.layers.size(); ++i)
    for (std::size_t t = 1; t < layers.targets().size(); ++t)
      if (layers.cell(drift.layers[i], t).differs())
        return DriftMark{i, "first difference: " + drift.names[i]};
  return std::nullopt;
}

Drift named_drift(const LayerTable& layers, DriftMeasure measure) {
  constexpr std::size_t readable = 14;
  Drift drift = drift_of(layers.results(), error_path(layers), measure);
  std::erase_if(drift.series, [](const DriftSeries& series) { return series.target >= max_targets; });
  for (const std::size_t row : drift.layers) drift.names.push_back(layers.rows()[row].node);
  drift.names = fitting_names(drift.names, readable);
  for (std::string& name : drift.names) name = plain_text(name, 60);
  for (DriftSeries& series : drift.series)
    series.name = plain_text(layers.targets()[series.target]->target, 60);
  return drift;
}

/// What the chart shows, in words: the largest value of each target and where.
std::string spoken(const Drift& drift) {
  std::string text;
  for (const DriftSeries& series : drift.series) {
    const auto known = [](double value) { return std::isnan(value) ? -1.0 : value; };
    const auto largest = std::ranges::max_element(series.total, {}, known);
    if (largest == series.total.end() || std::isnan(*largest)) continue;
    text += fmt::format(" {}: at most {} at {}.", series.name, format_number(*largest),
                        drift.names[static_cast<std::size_t>(largest - series.total.begin())]);
  }
  return text;
}

std::string legend(const Drift& drift) {
  const bool joined = drift.measure != DriftMeasure::budget;
  std::string html = "<div class=\"legend\">";
  for (const DriftSeries& series : drift.series) {
    SvgPainter key({26.0f, 12.0f, "width=\"26\" height=\"12\" aria-hidden=\"true\""});
    paint_drift_key(key, {0.0f, 0.0f, 26.0f, 12.0f}, series, joined, light_theme());
    const bool same = std::ranges::all_of(series.total, [](double value) { return value == 0.0; });
    html += "<span>" + key.finish() + html_escape(series.name) +
            (!has_total(series) ? ", the layer itself"
             : joined && same   ? ": no difference"
                                : "") +
            "</span>";
  }
  return html + "</div>";
}

std::string drift_figure(const LayerTable& layers, DriftMeasure measure, const std::string& title,
                         std::string caption) {
  constexpr float width = 1000.0f;
  constexpr float height = 330.0f;
  const Drift drift = named_drift(layers, measure);
  DriftChart chart;
  chart.box = {4.0f, 4.0f, width - 4.0f, height - 4.0f};
  chart.last = drift.layers.size();
  if (measure != DriftMeasure::budget) chart.mark = mark_of(layers, drift);
  chart.compact = true;
  SvgPainter painter({width, height,
                      fmt::format("class=\"chart\" role=\"img\" aria-label=\"{}\"",
                                  html_escape(title + "." + spoken(drift)))});
  paint_drift(painter, chart, drift, light_theme());
  const std::size_t together = layers_per_point(painter, chart);
  if (together > 1) caption += fmt::format(" Each point is the worst of {} neighbouring layers.", together);
  return fmt::format(
      "<figure><figcaption><b>{0}</b> {1}</figcaption><div class=\"scroll plain\" tabindex=\"0\" "
      "role=\"group\" aria-label=\"{0}\">{2}</div>{3}</figure>",
      html_escape(title), html_escape(caption), painter.finish(), legend(drift));
}

std::string write(const SectionContext& context) {
  const LayerTable& layers = context.layers;
  if (layers.rows().empty()) return "";
  if (layers.targets().size() > max_targets)
    context.left_out.push_back(
        fmt::format("{} targets in the charts.", layers.targets().size() - max_targets));
  return open_section("drift", "Drift: where errors originate and where they grow") +
         drift_figure(layers, DriftMeasure::relative, "Relative error by depth",
                      "Lines: how far a layer's output is from that of " +
                          plain_text(context.view.left.target, 60) +
                          ", including the errors of all layers before it. Rings: the error that the layer "
                          "itself adds to its inputs, if any. A line without rings is inherited error. "
                          "Constants and indices are left out.") +
         drift_figure(layers, DriftMeasure::budget, "Share of the rounding budget used",
                      "Each layer judged from the inputs that its own target recorded. Above the line no "
                      "rounding explains it.") +
         "</section>";
}

}  // namespace

void add_to(SectionTable& table) { table.add({20, write}); }

}  // namespace driftscope::sections::drift
