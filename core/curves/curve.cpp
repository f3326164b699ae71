#include "core/curves/curve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace driftscope {
namespace {

constexpr double no_point = std::numeric_limits<double>::quiet_NaN();

struct StepValues {
  double sum = 0.0;
  double low = no_point;
  double high = no_point;
  std::size_t count = 0;
};

}  // namespace

void order_points(Curve& curve) {
  const bool ordered =
      std::ranges::adjacent_find(curve.steps, [](double a, double b) { return a >= b; }) == curve.steps.end();
  if (ordered) return;
  std::vector<std::size_t> order(curve.steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return curve.steps[a] != curve.steps[b] ? curve.steps[a] < curve.steps[b] : a < b;
  });
  Curve ordered_curve;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i + 1 < order.size() && curve.steps[order[i]] == curve.steps[order[i + 1]]) continue;
    ordered_curve.steps.push_back(curve.steps[order[i]]);
    ordered_curve.values.push_back(curve.values[order[i]]);
  }
  curve.steps = std::move(ordered_curve.steps);
  curve.values = std::move(ordered_curve.values);
}

BetterCurve better_curve_of(std::string_view metric) {
  std::string name(metric);
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  constexpr std::array lower = std::to_array<std::string_view>(
      {"loss", "error", "drift", "perplexity", "entropy", "mse", "mae", "rmse", "distance"});
  constexpr std::array higher = std::to_array<std::string_view>(
      {"acc", "auc", "precision", "recall", "f1", "iou", "bleu", "psnr", "reward", "score"});
  if (std::ranges::any_of(lower, has)) return BetterCurve::lower;
  return std::ranges::any_of(higher, has) ? BetterCurve::higher : BetterCurve::unknown;
}

std::vector<CurveGroup> groups_of(const std::vector<Curve>& curves) {
  std::vector<std::string> metrics;
  std::map<std::string_view, std::size_t> place_of_metric;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> place;
  std::vector<CurveGroup> found;
  for (const Curve& curve : curves) {
    place_of_metric.try_emplace(curve.metric, place_of_metric.size());
    const auto [at, is_new] = place.try_emplace({curve.run, curve.metric}, found.size());
    if (is_new) found.push_back({curve.run, curve.metric, better_curve_of(curve.metric), {}});
    found[at->second].repetitions.push_back(&curve);
  }
  std::vector<std::size_t> order(found.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const std::size_t left = place_of_metric.at(found[a].metric);
    const std::size_t right = place_of_metric.at(found[b].metric);
    return left != right ? left < right : a < b;
  });
  std::vector<CurveGroup> groups;
  groups.reserve(found.size());
  for (const std::size_t i : order) groups.push_back(std::move(found[i]));
  return groups;
}

std::string_view model_of_run(std::string_view run) {
  const std::size_t slash = run.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : run.substr(0, slash);
}

CurveBand band_of(const CurveGroup& group) {
  std::map<double, StepValues> by_step;
  for (const Curve* const curve : group.repetitions)
    for (std::size_t i = 0; i < curve->steps.size(); ++i) {
      StepValues& at = by_step[curve->steps[i]];
      const double value = curve->values[i];
      if (!std::isfinite(value)) continue;
      at.sum += value;
      at.low = at.count == 0 ? value : std::min(at.low, value);
      at.high = at.count == 0 ? value : std::max(at.high, value);
      ++at.count;
    }
  CurveBand band;
  for (const auto& [step, at] : by_step) {
    band.steps.push_back(step);
    band.mean.push_back(at.count == 0 ? no_point : at.sum / static_cast<double>(at.count));
    band.low.push_back(at.low);
    band.high.push_back(at.high);
  }
  return band;
}

}  // namespace driftscope
