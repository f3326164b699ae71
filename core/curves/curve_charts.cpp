#include "core/curves/curve_charts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.hpp"

namespace driftscope {
namespace {

CurveChart chart_of(const std::vector<const CurveGroup*>& groups, std::string_view model) {
  CurveChart chart;
  chart.metric = groups.front()->metric;
  chart.title = fmt::format("{}{}{}", chart.metric, model.empty() ? "" : ", ", model);
  std::size_t repetitions = 1;
  for (const CurveGroup* const group : groups) {
    if (chart.lines.size() >= most_lines_of_a_chart) break;
    CurveBand band = band_of(*group);
    repetitions = std::max(repetitions, group->repetitions.size());
    const bool has_band = group->repetitions.size() > 1;
    const std::string_view label =
        model.empty() ? std::string_view(group->run) : std::string_view(group->run).substr(model.size() + 1);
    chart.lines.push_back({plain_text(label, 40), chart.lines.size(), std::move(band.steps),
                           std::move(band.mean), has_band ? std::move(band.low) : std::vector<double>(),
                           has_band ? std::move(band.high) : std::vector<double>()});
  }
  if (repetitions > 1)
    chart.about =
        fmt::format("Mean of up to {} repetitions; the band is from the least to the largest. ", repetitions);
  if (is_logarithmic({}, chart.lines)) chart.about += "Logarithmic. ";
  if (groups.size() > chart.lines.size())
    chart.about +=
        fmt::format("The first {} of {} runs; all are in the tables. ", chart.lines.size(), groups.size());
  if (!chart.about.empty()) chart.about.pop_back();
  return chart;
}

}  // namespace

std::vector<CurveChart> curve_charts(const std::vector<CurveGroup>& groups) {
  std::vector<CurveChart> charts;
  for (std::size_t i = 0; i < groups.size();) {
    std::vector<std::pair<std::string_view, std::vector<const CurveGroup*>>> by_model;
    const std::string& metric = groups[i].metric;
    for (; i < groups.size() && groups[i].metric == metric; ++i) {
      const std::string_view model = model_of_run(groups[i].run);
      auto at = std::ranges::find(by_model, model, [](const auto& one) { return one.first; });
      if (at == by_model.end()) at = by_model.insert(by_model.end(), {model, {}});
      at->second.push_back(&groups[i]);
    }
    for (const auto& [model, runs] : by_model) charts.push_back(chart_of(runs, model));
  }
  return charts;
}

}  // namespace driftscope
