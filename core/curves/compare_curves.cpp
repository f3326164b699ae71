#include "core/curves/compare_curves.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/statistics/effect_size.hpp"
#include "core/statistics/holm.hpp"
#include "core/statistics/mann_whitney.hpp"
#include "core/statistics/statistics.hpp"

namespace driftscope {
namespace {

constexpr double significant = 0.05;

struct Ends {
  double last = std::numeric_limits<double>::quiet_NaN();
  double best = std::numeric_limits<double>::quiet_NaN();
  double best_step = 0.0;
  std::int64_t not_finite = 0;
};

/// Of finite values; the last one may be NaN, since a training that diverged ends so.
Ends ends_of(const Curve& curve, BetterCurve better) {
  Ends ends;
  ends.last = curve.values.back();
  for (std::size_t i = 0; i < curve.values.size(); ++i) {
    const double value = curve.values[i];
    if (!std::isfinite(value)) {
      ++ends.not_finite;
      continue;
    }
    if (std::isnan(ends.best) || (better == BetterCurve::lower ? value < ends.best : value > ends.best)) {
      ends.best = value;
      ends.best_step = curve.steps[i];
    }
  }
  return ends;
}

std::vector<double> finite_last_values(const CurveGroup& group) {
  std::vector<double> values;
  for (const Curve* const curve : group.repetitions)
    if (std::isfinite(curve->values.back())) values.push_back(curve->values.back());
  return values;
}

/// Steps of both, with the means there.
struct CommonSteps {
  std::vector<double> steps, left, right;
};
CommonSteps common_steps(const CurveBand& left, const CurveBand& right) {
  CommonSteps common;
  for (std::size_t i = 0, k = 0; i < left.steps.size() && k < right.steps.size();) {
    if (left.steps[i] < right.steps[k]) {
      ++i;
    } else if (left.steps[i] > right.steps[k]) {
      ++k;
    } else {
      common.steps.push_back(left.steps[i]);
      common.left.push_back(left.mean[i++]);
      common.right.push_back(right.mean[k++]);
    }
  }
  return common;
}

/// Between all finite means of both.
double range_of(const CommonSteps& common) {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (const std::vector<double>* const values : {&common.left, &common.right})
    for (const double value : *values)
      if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  return high > low ? high - low : 0.0;
}

void find_differences(const CommonSteps& common, double threshold, documents::CurveComparison& made) {
  made.largest = 0.0;
  made.largest_step = common.steps.front();
  bool apart_to_the_end = true;
  for (std::size_t i = common.steps.size(); i-- > 0;) {
    const double difference = common.right[i] - common.left[i];
    // Where one has diverged they are apart; there is no number for how far.
    const bool apart = std::isfinite(difference)
                           ? std::fabs(difference) > threshold
                           : std::isfinite(common.left[i]) != std::isfinite(common.right[i]);
    apart_to_the_end = apart_to_the_end && apart;
    if (apart_to_the_end) made.parted_step = common.steps[i];
    if (std::isfinite(difference) && std::fabs(difference) >= std::fabs(made.largest)) {
      made.largest = difference;
      made.largest_step = common.steps[i];
    }
  }
}

/// Number of ways to choose; as a double, which is enough to compare 2 / it with 0.05.
double choices(std::size_t n, std::size_t k) {
  double product = 1.0;
  for (std::size_t i = 1; i <= k; ++i) product *= static_cast<double>(n - k + i) / static_cast<double>(i);
  return product;
}

void test_last_values(const CurveGroup& left, const CurveGroup& right, documents::CurveComparison& made) {
  const std::vector<double> a = finite_last_values(left);
  const std::vector<double> b = finite_last_values(right);
  if (a.size() < 2 || b.size() < 2) return;
  const auto test = mann_whitney(a, b);
  if (!test.ok()) return;
  made.p = test->p.p;
  made.too_few = 2.0 / choices(a.size() + b.size(), a.size()) > significant;
  made.a = vargha_delaney(b, a);
  made.size = vargha_delaney_size(*made.a);
}

}  // namespace

documents::CurveSummary summary_of(const CurveGroup& group) {
  documents::CurveSummary summary;
  summary.run = group.run;
  summary.metric = group.metric;
  summary.repetitions = std::ssize(group.repetitions);
  std::vector<double> last, best, best_steps;
  for (const Curve* const curve : group.repetitions) {
    const Ends ends = ends_of(*curve, group.better);
    summary.points = std::max<std::int64_t>(summary.points, std::ssize(curve->values));
    summary.not_finite += ends.not_finite;
    last.push_back(ends.last);
    if (group.better == BetterCurve::unknown || std::isnan(ends.best)) continue;
    best.push_back(ends.best);
    best_steps.push_back(ends.best_step);
  }
  const auto mean_of = [](const std::vector<double>& values) {
    double sum = 0.0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  };
  summary.last = mean_of(last);
  summary.last_low = summary.last_high = last.front();
  for (const double value : last) {
    summary.last_low = std::isnan(value) ? value : std::min(summary.last_low, value);
    summary.last_high = std::isnan(value) ? value : std::max(summary.last_high, value);
  }
  if (!best.empty()) {
    summary.best = mean_of(best);
    summary.best_step = median(best_steps);
  }
  return summary;
}

std::vector<documents::CurveComparison> compare_curves(const std::vector<CurveGroup>& groups,
                                                       const CurveComparisonOptions& options) {
  std::vector<CurveBand> bands;
  for (const CurveGroup& group : groups) bands.push_back(band_of(group));
  std::vector<documents::CurveComparison> comparisons;
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (std::size_t k = i + 1; k < groups.size() && groups[k].metric == groups[i].metric; ++k) {
      if (comparisons.size() >= max_comparisons) break;
      if (model_of_run(groups[i].run) != model_of_run(groups[k].run)) continue;
      const CommonSteps common = common_steps(bands[i], bands[k]);
      if (common.steps.empty()) continue;
      documents::CurveComparison made;
      made.metric = groups[i].metric;
      made.left = groups[i].run;
      made.right = groups[k].run;
      made.steps = std::ssize(common.steps);
      made.threshold = options.threshold * range_of(common);
      find_differences(common, made.threshold, made);
      test_last_values(groups[i], groups[k], made);
      comparisons.push_back(std::move(made));
    }
  std::vector<double> p_values;
  for (const documents::CurveComparison& made : comparisons)
    if (made.p) p_values.push_back(*made.p);
  const std::vector<double> adjusted = holm(p_values);
  std::size_t next = 0;
  for (documents::CurveComparison& made : comparisons)
    if (made.p) made.p = adjusted[next++];
  return comparisons;
}

}  // namespace driftscope
