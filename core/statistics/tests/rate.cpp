// A share of right answers, with the interval in which the true one lies.
#include "core/statistics/rate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/statistics/test_table.hpp"

namespace driftscope::statistical_tests::rate {
namespace {

Result<TestReport> run(const TestRequest& request) {
  const Column& column = request.columns[0];
  DRIFTSCOPE_CHECK(check_answers(column, "expected 1 where the answer was right and 0 where it was wrong"));
  const std::int64_t n = std::ssize(column.values);
  const std::int64_t k = std::ranges::count(column.values, 1.0);
  const double confidence = request.options.bootstrap.confidence;
  const Interval wilson = wilson_interval(k, n, confidence);
  const Interval exact = clopper_pearson_interval(k, n, confidence);
  TestReport report;
  report.n = n;
  report.statistic = static_cast<double>(k) / static_cast<double>(n);
  report.statistic_name = "rate";
  report.interval = ReportedInterval{"rate", "Wilson", confidence, wilson};
  report.figures = {{"right", static_cast<double>(k)},
                    {"clopper_pearson_low", exact.low},
                    {"clopper_pearson_high", exact.high}};
  report.sentences = {fmt::format(
      "{}: {} of {} are right, {:.2f} %; the true rate lies between {:.2f} and {:.2f} % ({:g} % confidence, "
      "Wilson; at least that by Clopper and Pearson: {:.2f} to {:.2f} %).",
      column.path, k, n, 100 * *report.statistic, 100 * wilson.low, 100 * wilson.high, 100 * confidence,
      100 * exact.low, 100 * exact.high)};
  if (n < 100) report.sentences.push_back("Too few to compare rates that are a few points apart: below 100.");
  return report;
}

}  // namespace

void add_to(StatisticalTestTable& table) {
  table.add({.order = 70,
             .name = "rate",
             .summary = "answers of one target, 1 right and 0 wrong: between which rates is the true one?",
             .files = 1,
             .options = {"confidence"},
             .run = run});
}

}  // namespace driftscope::statistical_tests::rate
