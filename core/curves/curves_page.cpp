#include "core/curves/curves_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/curves/curves_text.hpp"
#include "core/draw/line_chart.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/report/report_style.hpp"

namespace driftscope {
namespace {

constexpr float curves_width = 1080.0f;
constexpr float curves_height = 340.0f;
constexpr std::size_t max_lines = 16;  // of a chart; more cannot be told apart

std::string curve_figure(const std::vector<const CurveGroup*>& groups, std::string_view model) {
  std::vector<ChartLine> lines;
  std::size_t repetitions = 1;
  for (const CurveGroup* const group : groups) {
    if (lines.size() >= max_lines) break;
    CurveBand band = band_of(*group);
    repetitions = std::max(repetitions, group->repetitions.size());
    const bool has_band = group->repetitions.size() > 1;
    const std::string_view label =
        model.empty() ? std::string_view(group->run) : std::string_view(group->run).substr(model.size() + 1);
    lines.push_back({plain_text(label, 40), lines.size(), std::move(band.steps), std::move(band.mean),
                     has_band ? std::move(band.low) : std::vector<double>(),
                     has_band ? std::move(band.high) : std::vector<double>()});
  }
  const std::string title = fmt::format("{}{}{}", groups.front()->metric, model.empty() ? "" : ", ", model);
  const LineChart chart{.box = {10.0f, 4.0f, curves_width, curves_height}, .x_title = "step or epoch"};
  SvgPainter painter({curves_width, curves_height,
                      fmt::format("class=\"chart\" role=\"img\" aria-label=\"{}\"", html_text(title, 200))});
  paint_lines(painter, chart, lines, light_theme());
  std::string about;
  if (repetitions > 1)
    about =
        fmt::format(" Mean of up to {} repetitions; the band is from the least to the largest.", repetitions);
  if (is_logarithmic(chart, lines)) about += " Logarithmic.";
  if (groups.size() > lines.size())
    about += fmt::format(" The first {} of {} runs; all are in the tables.", lines.size(), groups.size());
  return fmt::format(
      "<figure><figcaption><b>{}</b>{}</figcaption><div class=\"scroll\" tabindex=\"0\">{}</div></figure>",
      html_text(title, 200), about, painter.finish());
}

/// Groups come by metric; within one, runs of a model share a chart.
std::string curve_figures(const std::vector<CurveGroup>& groups) {
  std::string html;
  for (std::size_t i = 0; i < groups.size();) {
    std::vector<std::pair<std::string_view, std::vector<const CurveGroup*>>> by_model;
    const std::string& metric = groups[i].metric;
    for (; i < groups.size() && groups[i].metric == metric; ++i) {
      const std::string_view model = model_of_run(groups[i].run);
      auto at = std::ranges::find(by_model, model, [](const auto& one) { return one.first; });
      if (at == by_model.end()) at = by_model.insert(by_model.end(), {model, {}});
      at->second.push_back(&groups[i]);
    }
    for (const auto& [model, runs] : by_model) html += curve_figure(runs, model);
  }
  return html;
}

std::string curves_table_html(std::string_view title, const std::vector<std::string>& columns,
                              std::size_t words, const std::vector<std::vector<std::string>>& rows) {
  std::string html = fmt::format(
      "<section><h2>{}</h2><div class=\"scroll\" tabindex=\"0\"><table><thead><tr>", html_text(title, 200));
  for (std::size_t i = 0; i < columns.size(); ++i)
    html += fmt::format("<th scope=\"col\"{}>{}</th>", i < words ? " class=\"text\"" : "",
                        html_text(columns[i], 100));
  html += "</tr></thead><tbody>";
  for (const std::vector<std::string>& row : rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      html += fmt::format("<td{}>{}</td>", i < words ? " class=\"text\"" : "", html_text(row[i], 200));
    html += "</tr>";
  }
  return html + "</tbody></table></div></section>";
}

}  // namespace

std::string curves_page(const CurvesPage& page) {
  std::vector<std::vector<std::string>> ends, differences;
  for (const documents::CurveSummary& one : page.summaries)
    ends.push_back({one.metric, one.run, fmt::format("{}", one.repetitions), curve_number(one.last),
                    one.repetitions < 2
                        ? ""
                        : fmt::format("{} to {}", curve_number(one.last_low), curve_number(one.last_high)),
                    one.best ? curve_number(*one.best) : "–",
                    one.best_step ? curve_number(*one.best_step) : "–"});
  for (const documents::CurveComparison& one : page.comparisons)
    differences.push_back({one.metric, one.left, one.right, fmt::format("{:+.3g}", one.largest),
                           curve_number(one.largest_step),
                           one.parted_step ? curve_number(*one.parted_step) : "never", curve_test_text(one)});
  std::string html =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
      "<meta name=\"generator\" content=\"Driftscope\"><meta name=\"color-scheme\" content=\"light "
      "dark\"><title>" +
      html_text(page.title, 300) + "</title><style>" + report_style() +
      "</style></head><body><a class=\"skip\" href=\"#main\">Skip to the result</a><main "
      "id=\"main\"><header><h1>" +
      html_text(page.title, 300) + "</h1></header><section><h2>Curves</h2>" + curve_figures(page.groups) +
      "</section>" +
      curves_table_html("Where they end",
                        {"metric", "run", "repetitions", "last", "from – to", "best", "at step"}, 2, ends);
  if (!differences.empty())
    html +=
        curves_table_html(
            "How runs differ",
            {"metric", "left", "right", "largest difference", "at step", "apart from step", "last values"}, 3,
            differences) +
        "<p class=\"soft\">Means over repetitions, right − left. Last values: Mann and Whitney's test over "
        "repetitions, corrected by Holm, and Vargha and Delaney's A, how often the right one is larger.</p>";
  for (const std::string& note : page.notes)
    html += fmt::format("<p class=\"soft\">{}</p>", html_text(note, 500));
  return html + "</main></body></html>\n";
}

}  // namespace driftscope
