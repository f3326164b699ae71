// Sections of the report: error against depth.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.hpp"
#include "core/report/charts.hpp"
#include "core/report/report_sections.hpp"
#include "core/results/layer_names.hpp"
#include "core/results/layer_rank.hpp"

namespace driftscope::report_sections {
namespace {

struct DriftOfReport {
  std::vector<Series> errors;  // accumulated and local, target by target
  std::vector<Series> budgets;
  std::vector<std::string> layers;
  std::vector<ChartMark> marks;
};

/// The rows along which error travels: without constants, indices, sizes and conditions.
std::vector<std::size_t> error_path(const LayerTable& layers) {
  const auto is_index = [&](std::size_t row) {
    for (std::size_t t = 0; t < layers.targets().size(); ++t)
      if (const Tensor* tensor = layers.tensor(row, t))
        return tensor->dtype() == DType::int64 || tensor->dtype() == DType::int32 ||
               tensor->dtype() == DType::boolean;
    return false;
  };
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < layers.rows().size(); ++row)
    if (!layers.is_folded(row) && !is_index(row)) rows.push_back(row);
  return rows;
}

/// First fault, else first divergence, over all targets.
std::vector<ChartMark> marks_of(const LayerTable& layers, const std::vector<std::size_t>& rows,
                                const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t t = 0; t < layers.targets().size(); ++t)
      if (layers.cell(rows[i], t).verdict == Verdict::fault) return {{i, "✗ first fault: " + names[i]}};
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t t = 1; t < layers.targets().size(); ++t)
      if (layers.cell(rows[i], t).differs()) return {{i, "first difference: " + names[i]}};
  return {};
}

DriftOfReport drift_of(const LayerTable& layers) {
  constexpr std::size_t readable = 14;
  DriftOfReport drift;
  const std::vector<std::size_t> rows = error_path(layers);
  for (const std::size_t row : rows) drift.layers.push_back(layers.rows()[row].node);
  drift.layers = fitting_names(drift.layers, readable);
  const std::size_t targets = std::min(layers.targets().size(), max_targets);
  for (std::size_t t = 0; t < targets; ++t) {
    const std::string name = layers.targets()[t]->target;
    Series whole{name, {}, t};
    Series local{name + ", the layer itself", {}, t, false, true};
    Series budget{name, {}, t, false};
    for (const std::size_t row : rows) {
      const ResultCell cell = layers.cell(row, t);
      whole.values.push_back(relative_error(cell, MetricSource::compare));
      local.values.push_back(relative_error(cell, MetricSource::verify));
      budget.values.push_back(cell[verified_metric("budget_used")]);
    }
    if (layers.targets()[t]->comparison) drift.errors.push_back(std::move(whole));
    drift.errors.push_back(std::move(local));
    drift.budgets.push_back(std::move(budget));
  }
  drift.marks = marks_of(layers, rows, drift.layers);
  return drift;
}

}  // namespace

std::string drift_charts(const ComparisonView& view, const LayerTable& layers, LeftOut& left_out) {
  if (layers.rows().empty()) return "";
  if (layers.targets().size() > max_targets)
    left_out.push_back(fmt::format("{} targets in the charts.", layers.targets().size() - max_targets));
  const DriftOfReport drift = drift_of(layers);
  return "<section aria-labelledby=\"drift\"><h2 id=\"drift\">Drift: where errors originate and where they "
         "grow</h2>" +
         log_chart(
             {"Relative error by depth", "RMS error ÷ RMS signal",
              "Lines: how far a layer's output is from that of " + plain_text(view.left.target, 60) +
                  ", including the errors of all layers before it. Hollow markers: the error that the layer "
                  "itself adds to its inputs, if any. A line without hollow markers is inherited error. "
                  "Constants and indices are left out."},
             drift.layers, drift.errors, 0.0, drift.marks) +
         log_chart({"Share of the rounding budget used", "error ÷ budget",
                    "Each layer judged from the inputs that its own target recorded. Above the line no "
                    "rounding explains it."},
                   drift.layers, drift.budgets, 1.0) +
         "</section>";
}

}  // namespace driftscope::report_sections
