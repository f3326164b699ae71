// Sections of the report: error against depth.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/report/charts.hpp"
#include "core/report/format.hpp"
#include "core/report/report_sections.hpp"
#include "core/results/layer_rank.hpp"

namespace driftscope::report_sections {
namespace {

constexpr std::size_t max_drawn = 6;  // as many colours and markers as there are

struct Drift {
  std::vector<Series> errors;  // accumulated and local, target by target
  std::vector<Series> budgets;
  std::vector<std::string> layers;
  std::vector<ChartMark> marks;
};

/// First fault and first divergence over all targets.
std::vector<ChartMark> marks_of(const LayerTable& layers) {
  std::vector<ChartMark> marks;
  for (std::size_t row = 0; row < layers.rows().size(); ++row)
    for (std::size_t t = 0; t < layers.targets().size(); ++t)
      if (layers.cell(row, t).verdict == Verdict::fault)
        return {{row, "✗ first fault: " + layers.rows()[row].node}};
  for (std::size_t row = 0; row < layers.rows().size(); ++row)
    for (std::size_t t = 1; t < layers.targets().size(); ++t)
      if (layers.cell(row, t).differs()) return {{row, "first difference: " + layers.rows()[row].node}};
  return marks;
}

Drift drift_of(const LayerTable& layers) {
  Drift drift;
  for (const auto& row : layers.rows()) drift.layers.push_back(row.node);
  const std::size_t targets = std::min(layers.targets().size(), max_drawn);
  for (std::size_t t = 0; t < targets; ++t) {
    const std::string name = layers.targets()[t]->target;
    Series whole{name, {}, t};
    Series local{name + ", the layer itself", {}, t, false, true};
    Series budget{name, {}, t, false};
    for (std::size_t row = 0; row < layers.rows().size(); ++row) {
      const ResultCell cell = layers.cell(row, t);
      whole.values.push_back(relative_error(cell, MetricSource::compare));
      local.values.push_back(relative_error(cell, MetricSource::verify));
      budget.values.push_back(cell[verified_metric("budget_used")]);
    }
    if (layers.targets()[t]->comparison) drift.errors.push_back(std::move(whole));
    drift.errors.push_back(std::move(local));
    drift.budgets.push_back(std::move(budget));
  }
  drift.marks = marks_of(layers);
  return drift;
}

}  // namespace

std::string drift_charts(const ComparisonView& view, const LayerTable& layers, LeftOut& left_out) {
  if (layers.rows().empty()) return "";
  if (layers.targets().size() > max_drawn)
    left_out.push_back(fmt::format("{} targets in the charts.", layers.targets().size() - max_drawn));
  const Drift drift = drift_of(layers);
  return "<section aria-labelledby=\"drift\"><h2 id=\"drift\">Drift: where error is born and where it "
         "grows</h2>" +
         log_chart(
             {"Relative error by depth", "RMS error ÷ RMS signal",
              "Lines: how far a layer's output is from that of " + plain_text(view.left.target, 60) +
                  ", errors of all layers before it included. Hollow markers: what the layer itself adds to "
                  "the inputs that it was given, where it adds anything. A line without hollow markers "
                  "is inherited error."},
             drift.layers, drift.errors, 0.0, drift.marks) +
         log_chart({"Share of the rounding budget used", "error ÷ budget",
                    "Each layer judged from the inputs that its own target recorded. Above the line no "
                    "rounding explains it."},
                   drift.layers, drift.budgets, 1.0) +
         "</section>";
}

}  // namespace driftscope::report_sections
