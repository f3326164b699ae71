// Pairs: two targets or builds on the same models, seeds or samples.
#include "core/statistics/wilcoxon.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/format.hpp"
#include "core/statistics/effect_size.hpp"
#include "core/statistics/test_table.hpp"

namespace driftscope::statistical_tests::wilcoxon {
namespace {

/// The fewest pairs with which p can be below α: the most extreme of 2ⁿ choices of signs, at one end or two.
std::int64_t needed_pairs(const TestOptions& options) {
  const double ends = options.alternative == Alternative::two_sided ? 2 : 1;
  std::int64_t n = 1;
  while (ends * std::exp2(-static_cast<double>(n)) >= options.alpha && n < 1000) ++n;
  return n;
}

Result<TestReport> run(const TestRequest& request) {
  DRIFTSCOPE_CHECK(check_pairs(request, "Wilcoxon's signed rank test"));
  const TestOptions& options = request.options;
  const auto& a = request.columns[0].values;
  const auto& b = request.columns[1].values;
  DRIFTSCOPE_TRY(const Wilcoxon test,
                 driftscope::wilcoxon(a, b, {options.alternative, options.method, options.zeros}));
  const bool two_sided = options.alternative == Alternative::two_sided;
  const double effect = paired_vargha_delaney(a, b);
  TestReport report;
  report.n = test.n;
  report.statistic = two_sided ? std::min(test.w_plus, test.w_minus) : test.w_plus;
  report.statistic_name = two_sided ? "min(W+, W-)" : "W+";
  report.p = test.p;
  report.effects = {{"A", effect, std::string(vargha_delaney_size(effect))},
                    {"rank-biserial r", test.rank_biserial}};
  report.figures = {
      {"w_plus", test.w_plus}, {"w_minus", test.w_minus}, {"zeros", static_cast<double>(test.zeros)}};
  const std::int64_t needed = needed_pairs(options);
  const std::int64_t different = test.n - test.zeros;
  std::int64_t larger = 0;
  for (std::size_t i = 0; i < a.size(); ++i) larger += a[i] > b[i] ? 1 : 0;
  report.sentences = {
      fmt::format("{} is larger than {} in {} of {} pairs, smaller in {}, equal in {}: {}.",
                  request.columns[0].path, request.columns[1].path, larger, test.n, different - larger,
                  test.zeros, p_text(test.p, options.alternative)),
      decision(test.p, options.alpha), a_text(effect, request, true),
      fmt::format(
          "Matched-pairs rank-biserial r = {:.3f} (1: the first is larger in every pair, -1: smaller).",
          test.rank_biserial)};
  if (test.n < needed)
    report.too_few =
        fmt::format("{} pairs cannot reach p < {}, whatever they say; Wilcoxon's test needs at least {}",
                    test.n, format_number(options.alpha), needed);
  else if (different < needed)
    report.sentences.push_back(fmt::format("Only {} pairs differ; below {} the test cannot reach p < {}.",
                                           different, needed, format_number(options.alpha)));
  return report;
}

}  // namespace

void add_to(StatisticalTestTable& table) {
  table.add({.order = 10,
             .name = "wilcoxon",
             .summary = "pairs of values: do the differences lean to one side? (signed rank test)",
             .options = {"alternative", "method", "zeros", "paired"},
             .run = run});
}

}  // namespace driftscope::statistical_tests::wilcoxon
