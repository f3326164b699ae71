// By how much do two files differ, with an interval.
#include "core/statistics/bootstrap.hpp"

#include <fmt/format.h>

#include <numeric>

#include "core/base/format.hpp"
#include "core/statistics/effect_size.hpp"
#include "core/statistics/test_table.hpp"

namespace driftscope::statistical_tests::bootstrap {
namespace {

double center_of(Center center, std::span<const double> values) {
  if (center == Center::median) return median(values);
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Result<TestReport> run(const TestRequest& request) {
  const TestOptions& options = request.options;
  const bool paired = options.paired;
  const std::string_view test = "bootstrap --paired";
  if (paired) DRIFTSCOPE_CHECK(check_pairs(request, test));
  DRIFTSCOPE_CHECK(check_resampling(request));
  const auto& a = request.columns[0].values;
  const auto& b = request.columns[1].values;
  std::vector<std::vector<double>> samples;
  if (paired) {
    samples.emplace_back();
    for (std::size_t i = 0; i < a.size(); ++i) samples[0].push_back(a[i] - b[i]);
  } else {
    samples = {a, b};
  }
  const BootstrapInterval interval = bootstrap_interval(
      samples,
      [&](Samples drawn) {
        const double first = center_of(options.center, drawn[0]);
        return paired ? first : first - center_of(options.center, drawn[1]);
      },
      options.bootstrap);
  const char* const center = options.center == Center::mean ? "mean" : "median";
  const std::string what =
      paired ? fmt::format("{} of the differences", center) : fmt::format("difference of the {}s", center);
  const double effect = paired ? paired_vargha_delaney(a, b) : driftscope::vargha_delaney(a, b);
  TestReport report;
  report.n = paired ? std::ssize(a) : std::ssize(a) + std::ssize(b);
  report.statistic = interval.value;
  report.statistic_name = what;
  report.interval = reported(request, what, interval);
  report.effects = {{"A", effect, std::string(vargha_delaney_size(effect))}};
  report.figures = {{"center_a", center_of(options.center, a)}, {"center_b", center_of(options.center, b)}};
  const bool apart = interval.interval.low > 0 || interval.interval.high < 0;
  report.sentences = {fmt::format("The {}, {} less {}, is {} (n = {} and {}).", what, request.columns[0].path,
                                  request.columns[1].path, format_number(interval.value), a.size(), b.size()),
                      interval_text(*report.interval),
                      apart ? "0 is not in it: the difference is significant at that confidence."
                            : "0 is in it: no difference is shown. That does not show that both are equal.",
                      a_text(effect, request, paired)};
  if (std::min(a.size(), b.size()) < 10)
    report.sentences.push_back("Below 10 values such an interval tends to be too narrow.");
  return report;
}

}  // namespace

void add_to(StatisticalTestTable& table) {
  table.add({.order = 40,
             .name = "bootstrap",
             .summary = "by how much do means or medians differ? (seeded bootstrap interval, no p)",
             .options = {"paired", "of", "confidence", "resamples", "seed", "interval"},
             .run = run});
}

}  // namespace driftscope::statistical_tests::bootstrap
