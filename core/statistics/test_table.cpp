#include "core/statistics/test_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/statistics/effect_size.hpp"

namespace driftscope {

void StatisticalTestTable::add(StatisticalTest test) {
  const auto place = std::ranges::upper_bound(
      tests_, std::pair(test.order, test.name), {},
      [](const StatisticalTest& other) { return std::pair(other.order, other.name); });
  tests_.insert(place, std::move(test));
}

const StatisticalTest* StatisticalTestTable::find(std::string_view name) const {
  const auto place = std::ranges::find(tests_, name, &StatisticalTest::name);
  return place == tests_.end() ? nullptr : &*place;
}

Status check_pairs(const TestRequest& request, std::string_view test) {
  const Column& a = request.columns[0];
  const Column& b = request.columns[1];
  if (a.values.size() == b.values.size()) return {};
  const bool a_longer = a.values.size() > b.values.size();
  const Column& longer = a_longer ? a : b;
  const Column& shorter = a_longer ? b : a;
  return bad_input(
      fmt::format("{}: the first value without a partner: {} has {} values, {} has {}; {} compares pairs, "
                  "value i of one with "
                  "value i of the other",
                  place_in(longer, shorter.values.size()), longer.path, longer.values.size(), shorter.path,
                  shorter.values.size(), test));
}

Status check_answers(const Column& column, std::string_view meaning) {
  for (std::size_t i = 0; i < column.values.size(); ++i)
    if (column.values[i] != 0 && column.values[i] != 1)
      return bad_input(
          fmt::format("{}: {} is neither 0 nor 1; {}", place_in(column, i), column.values[i], meaning));
  return {};
}

Status check_resampling(const TestRequest& request) {
  constexpr double most = 2e9;
  double values = 0.0;
  for (const Column& column : request.columns) {
    if (column.values.size() < 2)
      return bad_input(
          fmt::format("{}: too few: 1 value; a bootstrap interval needs at least 2, better 10", column.path));
    values += static_cast<double>(column.values.size());
  }
  const BootstrapOptions& how = request.options.bootstrap;
  // BCa leaves out every value once.
  const double rounds = static_cast<double>(how.resamples) + (how.kind == BootstrapKind::bca ? values : 0.0);
  if (rounds * values <= most) return {};
  return limit_error(fmt::format(
      "{:.0f} values and {} resamples would take minutes; use fewer --resamples, or --interval percentile",
      values, how.resamples));
}

ReportedInterval reported(const TestRequest& request, std::string of, const BootstrapInterval& interval) {
  return {std::move(of), interval.kind == BootstrapKind::bca ? "BCa bootstrap" : "percentile bootstrap",
          request.options.bootstrap.confidence, interval.interval};
}

std::string interval_text(const ReportedInterval& interval) {
  return fmt::format("The true {} lies between {} and {} ({:g} % confidence, {}).", interval.of,
                     format_number(interval.interval.low), format_number(interval.interval.high),
                     100 * interval.confidence, interval.method);
}

std::string p_text(const PValue& p, Alternative alternative) {
  const char* const sides = alternative == Alternative::two_sided ? "two-sided"
                            : alternative == Alternative::less    ? "one-sided: less"
                                                                  : "one-sided: greater";
  return fmt::format("p = {} ({}, {})", format_number(p.p), p.exact ? "exact" : "approximate", sides);
}

std::string decision(const PValue& p, double alpha) {
  const std::string level = format_number(alpha);
  if (p.p < alpha)
    return fmt::format(
        "Significant (p < {}): were there no difference, one at least this large would be seen in {} % of "
        "such "
        "experiments.",
        level, format_number(100 * p.p));
  return fmt::format(
      "Not significant (p ≥ {}): such a difference is no surprise if there is none. That does not show that "
      "both "
      "are equal.",
      level);
}

std::string a_text(double a, const TestRequest& request, bool paired) {
  const std::string_view size = vargha_delaney_size(a);
  return fmt::format("Effect: A = {:.3f} ({}): in {:.1f} % of {} {} is larger than {}, ties counted half.", a,
                     size, 100 * a, paired ? "the pairs" : "all pairs of a value each",
                     request.columns[0].path, request.columns[1].path);
}

}  // namespace driftscope
