// The effect alone, with an interval.
#include <fmt/format.h>

#include "core/statistics/effect_size.hpp"
#include "core/statistics/test_table.hpp"

namespace driftscope::statistical_tests::vargha_delaney {
namespace {

/// A of pairs is the mean of 1, ½ and 0 over the pairs; else both samples are drawn from.
BootstrapInterval interval_of_a(const TestRequest& request) {
  const auto& a = request.columns[0].values;
  const auto& b = request.columns[1].values;
  std::vector<std::vector<double>> samples;
  if (!request.options.paired) {
    samples = {a, b};
    return bootstrap_interval(
        samples, [](Samples drawn) { return driftscope::vargha_delaney(drawn[0], drawn[1]); },
        request.options.bootstrap);
  }
  samples.emplace_back();
  for (std::size_t i = 0; i < a.size(); ++i)
    samples[0].push_back(a[i] > b[i] ? 1.0 : a[i] == b[i] ? 0.5 : 0.0);
  const auto mean = [](Samples drawn) {
    double sum = 0.0;
    for (const double value : drawn[0]) sum += value;
    return sum / static_cast<double>(drawn[0].size());
  };
  return bootstrap_interval(samples, mean, request.options.bootstrap);
}

Result<TestReport> run(const TestRequest& request) {
  const bool paired = request.options.paired;
  if (paired) DRIFTSCOPE_CHECK(check_pairs(request, "vargha-delaney --paired"));
  const auto& a = request.columns[0].values;
  const auto& b = request.columns[1].values;
  const double effect = paired ? paired_vargha_delaney(a, b) : driftscope::vargha_delaney(a, b);
  TestReport report;
  report.n = paired ? std::ssize(a) : std::ssize(a) + std::ssize(b);
  report.statistic = effect;
  report.statistic_name = "A";
  report.effects = {{"A", effect, std::string(vargha_delaney_size(effect))}};
  report.sentences = {
      a_text(effect, request, paired),
      "0.5: neither is larger; from 0.56 (or 0.44) it is small, from 0.64 (0.36) medium, from 0.71 "
      "(0.29) large."};
  const std::size_t fewest = std::min(a.size(), b.size());
  if (fewest < 2) {
    report.too_few = "one value in a file says nothing about others; give at least 2, better 10";
    return report;
  }
  DRIFTSCOPE_CHECK(check_resampling(request));
  const BootstrapInterval interval = interval_of_a(request);
  report.interval = reported(request, "A", interval);
  report.sentences.push_back(interval_text(*report.interval));
  if (fewest < 10) report.sentences.push_back("Below 10 values such an interval tends to be too narrow.");
  return report;
}

}  // namespace

void add_to(StatisticalTestTable& table) {
  table.add({.order = 30,
             .name = "vargha-delaney",
             .summary = "how often is a value of the first file larger? (effect size A, no p)",
             .options = {"paired", "confidence", "resamples", "seed", "interval"},
             .run = run});
}

}  // namespace driftscope::statistical_tests::vargha_delaney
