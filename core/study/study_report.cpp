#include "core/study/study_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/report/report_style.hpp"
#include "core/study/study_charts.hpp"

namespace driftscope {
namespace {

constexpr float chart_width = 1080.0f;
constexpr const char* own_style = R"css(
.theirs>*,.theirs>:first-child{color:var(--dim)}.theirs td{font-style:italic}
td.why{white-space:normal;text-align:left;color:var(--dim)}td.long{white-space:normal;min-width:220px}
td[rowspan]{vertical-align:top}.holds{font-weight:600}.fails{color:var(--fault);font-weight:600}
)css";

std::string chart_html(const StudyChart& chart) {
  const float height = bar_chart_height(chart.bars.size());
  SvgPainter painter(
      {chart_width, height,
       fmt::format("class=\"chart\" role=\"img\" aria-label=\"{}\"", html_text(chart.title, 200))});
  paint_bars(painter, {0.0f, 0.0f, chart_width, height}, chart.bars, chart.logarithmic, light_theme());
  return fmt::format(
      "<figure><figcaption><b>{}</b></figcaption><div class=\"scroll\" tabindex=\"0\">{}</div></figure>",
      html_text(chart.title, 200), painter.finish());
}

std::string all_charts(const StudyView& view) {
  std::string html;
  std::string_view group;
  for (const StudyChart& chart : study_charts(view)) {
    if (chart.group != group)
      html += fmt::format("{}<section><h2>{}</h2>", html.empty() ? "" : "</section>", chart.group);
    group = chart.group;
    html += chart_html(chart);
  }
  return html.empty() ? html : html + "</section>";
}

/// Columns of words, which begin at the left; the others are figures.
bool is_text(const StudyTable& table, std::size_t column) {
  static constexpr std::string_view names[] = {"model", "variant", "target", "data",
                                               "where", "claim",   "here",   "evidence"};
  return std::ranges::find(names, table.columns[column]) != std::end(names);
}

constexpr std::size_t claim_column = 0;
constexpr std::size_t model_column = 1;
constexpr std::size_t target_column = 2;

/// Claims that end alike on several targets of a model in one row, which names all of them.
std::vector<StudyTable::Row> with_targets_together(const std::vector<StudyTable::Row>& rows) {
  std::vector<StudyTable::Row> together;
  for (const StudyTable::Row& row : rows) {
    StudyTable::Row like = row;
    if (!together.empty()) like.cells[target_column] = together.back().cells[target_column];
    if (!together.empty() && like.cells == together.back().cells)
      together.back().cells[target_column] += ", " + row.cells[target_column];
    else
      together.push_back(row);
  }
  return together;
}

/// Rows from this one on with the same words in this column and those before it; 0: the row above has them.
std::size_t rows_alike(const std::vector<StudyTable::Row>& rows, std::size_t row, std::size_t column) {
  const auto alike = [&](std::size_t a, std::size_t b) {
    return std::equal(rows[a].cells.begin(), rows[a].cells.begin() + static_cast<std::ptrdiff_t>(column) + 1,
                      rows[b].cells.begin());
  };
  if (row > 0 && alike(row, row - 1)) return 0;
  std::size_t end = row + 1;
  while (end < rows.size() && alike(row, end)) ++end;
  return end - row;
}

std::string claims_html(const StudyTable& table) {
  const std::vector<StudyTable::Row> rows = with_targets_together(table.rows);
  std::string html;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    html += "<tr>";
    for (std::size_t i = 0; i < rows[r].cells.size(); ++i) {
      const std::size_t span = i == claim_column || i == model_column ? rows_alike(rows, r, i) : 1;
      if (span == 0) continue;
      const std::string& cell = rows[r].cells[i];
      const char* const kind = i == claim_column || i == 4    ? "text long"
                               : cell == "holds here"         ? "text holds"
                               : cell == "does not hold here" ? "text fails"
                                                              : "text";
      html += fmt::format("<td class=\"{}\"{}>{}</td>", kind,
                          span > 1 ? fmt::format(" rowspan=\"{}\"", span) : "", html_text(cell, 1000));
    }
    html += "</tr>";
  }
  return html;
}

std::string row_html(const StudyTable& table, const StudyTable::Row& row) {
  std::string html = row.published ? "<tr class=\"theirs\">" : "<tr>";
  const bool reason = row.cells.size() > 2 && row.cells[1] == "not here";
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    if (reason && i == 2) {
      html += fmt::format("<td class=\"why\" colspan=\"{}\">{}</td>", table.columns.size() - 2,
                          html_text(row.cells[i], 500));
      break;
    }
    html += fmt::format("<td{}>{}</td>", is_text(table, i) ? " class=\"text\"" : "",
                        html_text(row.cells[i], 1000));
  }
  return html + "</tr>";
}

std::string table_html(const StudyTable& table) {
  std::string html =
      fmt::format("<section><h2>{}</h2><div class=\"scroll\" tabindex=\"0\"><table><thead><tr>",
                  html_text(table.title, 400));
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    html += fmt::format("<th scope=\"col\"{}>{}</th>", is_text(table, i) ? " class=\"text\"" : "",
                        html_text(table.columns[i], 200));
  html += "</tr></thead><tbody>";
  if (table.id == "claims")
    html += claims_html(table);
  else
    for (const StudyTable::Row& row : table.rows) html += row_html(table, row);
  html += "</tbody></table></div>";
  const bool published = std::ranges::any_of(table.rows, &StudyTable::Row::published);
  if (published || !table.note.empty())
    html += fmt::format("<p class=\"soft\">{}{}</p>", published ? "Grey: as published. " : "",
                        html_text(table.note, 2000));
  return html + "</section>";
}

std::string page_begin(const std::string& title, const std::string& about) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
         "<meta name=\"generator\" content=\"Driftscope\"><meta name=\"color-scheme\" content=\"light "
         "dark\"><title>" +
         html_text(title, 300) + "</title><style>" + report_style() + own_style +
         "</style></head><body><a class=\"skip\" href=\"#main\">Skip to the result</a><main "
         "id=\"main\"><header><h1>" +
         html_text(title, 300) + "</h1><p class=\"soft\">" + html_text(about, 4000) + "</p></header>";
}

}  // namespace

std::string study_report(const StudyView& view, const std::vector<StudyTable>& tables) {
  const documents::Study& study = view.study();
  std::string html = page_begin(study.title, study.about);
  // Claims, then charts, then the rest.
  bool drawn = false;
  for (const StudyTable& table : tables) {
    if (!drawn && table.id != "claims") {
      html += all_charts(view);
      drawn = true;
    }
    html += table_html(table);
  }
  return html + "</main></body></html>\n";
}

std::string studies_index(const std::vector<StudySummary>& studies) {
  std::string html = page_begin("Studies", "What each has found here; their pages have the tables.");
  for (const StudySummary& study : studies) {
    std::string found;
    for (const auto& [answer, count] : study.claims)
      found += fmt::format("{}{} {}", found.empty() ? "" : ", ", count, html_text(answer, 100));
    html += fmt::format(
        "<section><h2><a href=\"{}/report.html\">{}</a></h2><p class=\"soft\">{}</p><p>{} cells have run, {} "
        "of "
        "them failed. Claims checked: {}.</p></section>",
        html_text(study.folder, 300), html_text(study.title, 300), html_text(study.about, 4000), study.cells,
        study.failed, found.empty() ? "none" : found);
  }
  return html + "</main></body></html>\n";
}

}  // namespace driftscope
