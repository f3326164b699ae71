#include "core/curves/curves_page.hpp"

#include <fmt/format.h>

#include "core/base/format.hpp"
#include "core/curves/curve_tables.hpp"
#include "core/curves/layer_drift.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/report/report_style.hpp"

namespace driftscope {
namespace {

constexpr float curves_width = 1080.0f;
constexpr float curves_height = 340.0f;

std::string figure_html(const std::string& title, const std::string& about, const std::string& svg) {
  return fmt::format(
      "<figure><figcaption><b>{}</b>{}{}</figcaption><div class=\"scroll\" tabindex=\"0\">{}</div></figure>",
      html_text(title, 200), about.empty() ? "" : " ", html_text(about, 400), svg);
}

SvgPainter curves_painter(float height, const std::string& title) {
  return SvgPainter({curves_width, height,
                     fmt::format("class=\"chart\" role=\"img\" aria-label=\"{}\"", html_text(title, 200))});
}

std::string curve_figure(const CurveChart& chart) {
  SvgPainter painter = curves_painter(curves_height, chart.title);
  paint_lines(painter, {{10.0f, 4.0f, curves_width, curves_height}, curve_steps_title}, chart.lines,
              light_theme());
  return figure_html(chart.title, chart.about, painter.finish());
}

std::string drift_figure(const LayerDrift& drift) {
  const float height = drift_map_height(drift.map) + 8.0f;
  SvgPainter painter = curves_painter(height, drift.title);
  paint_drift_map(painter, {10.0f, 4.0f, curves_width, height}, drift.map, light_theme());
  return figure_html(drift.title, drift.about, painter.finish());
}

std::string curves_table_html(const CurveTable& table) {
  std::string html =
      fmt::format("<section><h2>{}</h2><div class=\"scroll\" tabindex=\"0\"><table><thead><tr>",
                  html_text(table.title, 200));
  const auto text_class = [&](std::size_t column) { return column < table.words ? " class=\"text\"" : ""; };
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    html += fmt::format("<th scope=\"col\"{}>{}</th>", text_class(i), html_text(table.columns[i], 100));
  html += "</tr></thead><tbody>";
  for (const std::vector<std::string>& row : table.rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      html += fmt::format("<td{}>{}</td>", text_class(i), html_text(row[i], 200));
    html += "</tr>";
  }
  html += "</tbody></table></div>";
  if (!table.note.empty()) html += fmt::format("<p class=\"soft\">{}</p>", html_text(table.note, 600));
  return html + "</section>";
}

}  // namespace

std::string curves_page(const std::string& title, const CurveSet& set) {
  std::string figures;
  for (const CurveChart& chart : set.charts) figures += curve_figure(chart);
  std::string drifts;
  for (const auto& training : set.trainings)
    for (const LayerDrift& drift : layer_drifts(*training)) drifts += drift_figure(drift);
  std::string html =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
      "<meta name=\"generator\" content=\"Driftscope\"><meta name=\"color-scheme\" content=\"light "
      "dark\"><title>" +
      html_text(title, 300) + "</title><style>" + report_style() +
      "</style></head><body><a class=\"skip\" href=\"#main\">Skip to the result</a><main "
      "id=\"main\"><header><h1>" +
      html_text(title, 300) + "</h1></header><section><h2>Curves</h2>" + figures + "</section>";
  if (!drifts.empty())
    html += fmt::format(
        "<section><h2>Distance of the layers</h2><p class=\"soft\">{}</p>{}</section>",
        "Of each layer's output for the same test samples, ‖a − b‖ / max(‖a‖, ‖b‖). Framed: the first "
        "layer that is apart. Without colour: the same bits.",
        drifts);
  for (const CurveTable& table : curve_tables(set)) html += curves_table_html(table);
  for (const std::string& note : set.document.notes)
    html += fmt::format("<p class=\"soft\">{}</p>", html_text(note, 500));
  return html + "</main></body></html>\n";
}

}  // namespace driftscope
