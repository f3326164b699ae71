// Independent samples: repetitions on one target beside repetitions on another.
#include "core/statistics/mann_whitney.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/format.hpp"
#include "core/statistics/effect_size.hpp"
#include "core/statistics/test_table.hpp"

namespace driftscope::statistical_tests::mann_whitney {
namespace {

/// The smallest p without ties: the most extreme of all choices of m among m + n, at one end or two.
double smallest_p(std::size_t m, std::size_t n, bool two_sided) {
  double choices = 1.0;
  for (std::size_t i = 1; i <= std::min(m, n) && std::isfinite(choices); ++i)
    choices *= static_cast<double>(std::max(m, n) + i) / static_cast<double>(i);
  return (two_sided ? 2 : 1) / choices;
}

Result<TestReport> run(const TestRequest& request) {
  const TestOptions& options = request.options;
  if (options.paired) return bad_input("mann-whitney compares independent values; for pairs use wilcoxon");
  const auto& a = request.columns[0].values;
  const auto& b = request.columns[1].values;
  DRIFTSCOPE_TRY(const MannWhitney test,
                 driftscope::mann_whitney(a, b, {options.alternative, options.method}));
  const double pairs = static_cast<double>(a.size()) * static_cast<double>(b.size());
  const double effect = test.u / pairs;
  const bool two_sided = options.alternative == Alternative::two_sided;
  TestReport report;
  report.n = std::ssize(a) + std::ssize(b);
  report.statistic = test.u;
  report.statistic_name = "U of the first";
  report.p = test.p;
  report.effects = {{"A", effect, std::string(vargha_delaney_size(effect))},
                    {"rank-biserial r", 2 * effect - 1}};
  report.figures = {{"n_a", static_cast<double>(a.size())},
                    {"n_b", static_cast<double>(b.size())},
                    {"u_b", pairs - test.u}};
  report.sentences = {
      fmt::format("{} ({} values) beside {} ({} values): U = {}, {}.", request.columns[0].path, a.size(),
                  request.columns[1].path, b.size(), test.u, p_text(test.p, options.alternative)),
      decision(test.p, options.alpha), a_text(effect, request, false)};
  if (smallest_p(a.size(), b.size(), two_sided) >= options.alpha) {
    std::size_t each = 1;
    while (smallest_p(each, each, two_sided) >= options.alpha && each < 1000) ++each;
    report.too_few = fmt::format(
        "{} and {} values cannot reach p < {}, whatever they say; Mann and Whitney's test needs more, such "
        "as {} "
        "in each file",
        a.size(), b.size(), format_number(options.alpha), each);
  }
  return report;
}

}  // namespace

void add_to(StatisticalTestTable& table) {
  table.add({.order = 20,
             .name = "mann-whitney",
             .summary = "independent values: does one file tend to larger values? (U, rank sum test)",
             .options = {"alternative", "method"},
             .run = run});
}

}  // namespace driftscope::statistical_tests::mann_whitney
