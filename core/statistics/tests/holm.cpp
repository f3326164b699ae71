// Many comparisons at once: which of them are significant?
#include "core/statistics/holm.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/statistics/test_table.hpp"

namespace driftscope::statistical_tests::holm {
namespace {

Result<TestReport> run(const TestRequest& request) {
  const Column& column = request.columns[0];
  for (std::size_t i = 0; i < column.values.size(); ++i)
    if (column.values[i] < 0 || column.values[i] > 1)
      return bad_input(fmt::format("{}: {} is not a p value; expected a number from 0 to 1",
                                   place_in(column, i), column.values[i]));
  TestReport report;
  report.n = std::ssize(column.values);
  report.adjusted = driftscope::holm(column.values);
  report.statistic = std::ranges::min(column.values);
  report.statistic_name = "smallest p";
  const double smallest = std::ranges::min(report.adjusted);
  report.p = PValue{smallest, true};  // the correction itself approximates nothing
  const auto significant =
      std::ranges::count_if(report.adjusted, [&](double p) { return p < request.options.alpha; });
  const std::string alpha = format_number(request.options.alpha);
  report.figures = {{"significant", static_cast<double>(significant)}};
  report.sentences = {
      fmt::format("{} of {} tests are significant at {}, with a chance of at most {} that any of them is by "
                  "chance.",
                  significant, report.n, alpha, alpha),
      "line: p -> adjusted p"};
  for (std::size_t i = 0; i < column.values.size(); ++i)
    report.sentences.push_back(fmt::format("{:>4}: {} -> {}{}", column.lines[i],
                                           format_number(column.values[i]), format_number(report.adjusted[i]),
                                           report.adjusted[i] < request.options.alpha ? " significant" : ""));
  return report;
}

}  // namespace

void add_to(StatisticalTestTable& table) {
  table.add({.order = 60,
             .name = "holm",
             .summary = "p values of many tests, in one file: which are significant together?",
             .files = 1,
             .run = run});
}

}  // namespace driftscope::statistical_tests::holm
