#include "core/curves/curves_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/format.hpp"
#include "core/report/text_table.hpp"

namespace driftscope {
namespace {

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",;\t\"") == std::string::npos && !text.starts_with(' ') && !text.ends_with(' '))
    return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string spread_text(const documents::CurveSummary& summary) {
  if (summary.repetitions < 2) return "";
  return fmt::format("{} to {}", curve_number(summary.last_low), curve_number(summary.last_high));
}

}  // namespace

std::string curve_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.5g}", value) : "not finite";
}

std::string curve_test_text(const documents::CurveComparison& made) {
  if (!made.p) return "–";
  return fmt::format("p {:.3g}{}, A {:.2f} {}", *made.p, made.too_few ? " (too few)" : "",
                     made.a.value_or(0.5), made.size);
}

std::string summary_table(const std::vector<documents::CurveSummary>& summaries) {
  TextTable table;
  table.column("metric", Align::left);
  table.column("run", Align::left);
  for (const char* const title : {"repetitions", "points", "last", "from – to", "best", "at step"})
    table.column(title, Align::right);
  for (const documents::CurveSummary& one : summaries)
    table.row({plain_text(one.metric, 40), plain_text(one.run, 50), fmt::format("{}", one.repetitions),
               fmt::format("{}", one.points), curve_number(one.last), spread_text(one),
               one.best ? curve_number(*one.best) : "–", one.best_step ? curve_number(*one.best_step) : "–"});
  return table.text();
}

std::string comparison_table(const std::vector<documents::CurveComparison>& comparisons) {
  if (comparisons.empty()) return "";
  TextTable table;
  table.column("metric", Align::left);
  table.column("left", Align::left);
  table.column("right", Align::left);
  for (const char* const title : {"largest difference", "at step", "apart from step"})
    table.column(title, Align::right);
  table.column("last values", Align::left);
  for (const documents::CurveComparison& one : comparisons)
    table.row({plain_text(one.metric, 40), plain_text(one.left, 40), plain_text(one.right, 40),
               fmt::format("{:+.3g}", one.largest), curve_number(one.largest_step),
               one.parted_step ? curve_number(*one.parted_step) : "never", curve_test_text(one)});
  return table.text();
}

std::string curves_csv(const std::vector<Curve>& curves) {
  std::string csv = "run,metric,repetition,step,value\n";
  for (const Curve& curve : curves)
    for (std::size_t i = 0; i < curve.steps.size(); ++i)
      csv += fmt::format("{},{},{},{},{}\n", csv_cell(curve.run), csv_cell(curve.metric), curve.repetition,
                         curve.steps[i], curve.values[i]);
  return csv;
}

}  // namespace driftscope
