#include "core/report/attack_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/statistics/rate.hpp"

namespace driftscope {
namespace {

constexpr std::size_t max_picture_elements = 3 * 128 * 128;
constexpr std::size_t max_changes = 24;

std::size_t colour_of(const SurvivalRates& all, const std::string& target) {
  return static_cast<std::size_t>(std::ranges::find(all.targets, target) - all.targets.begin());
}

Bar rate_bar(std::string label, std::int64_t k, std::int64_t n, std::size_t series) {
  Bar bar{.label = std::move(label), .text = "–", .value = 0.0, .series = series};
  if (n < 1) return bar;
  const Interval interval = wilson_interval(k, n);
  bar.value = 100.0 * static_cast<double>(k) / static_cast<double>(n);
  bar.interval = Interval{100.0 * interval.low, 100.0 * interval.high};
  bar.text = fmt::format("{:.1f} % [{:.1f}, {:.1f}], {} of {}{}", bar.value, bar.interval->low,
                         bar.interval->high, k, n, n < enough_for_a_rate ? ", too few" : "");
  return bar;
}

}  // namespace

std::vector<Bar> success_bars(const AttackResults& results, const SurvivalRates& all) {
  std::vector<Bar> bars;
  for (const documents::AttackResult& result : results.attack.results)
    bars.push_back(
        rate_bar(result.target, result.successes, results.attack.samples, colour_of(all, result.target)));
  return bars;
}

std::vector<Bar> transfer_bars(const AttackResults& results, const SurvivalRates& all) {
  std::vector<Bar> bars;
  for (const documents::AttackTransfer& transfer : results.attack.transfer) {
    if (transfer.adversarials < 1) continue;
    // The document has the rate alone.
    const auto fooled = static_cast<std::int64_t>(std::llround(std::clamp(transfer.success_rate, 0.0, 1.0) *
                                                               static_cast<double>(transfer.adversarials)));
    bars.push_back(rate_bar(transfer.from + " to " + transfer.to, fooled, transfer.adversarials,
                            colour_of(all, transfer.from)));
  }
  return bars;
}

std::vector<RadarSeries> radar_series(const SurvivalRates& all) {
  std::vector<RadarSeries> series;
  for (std::size_t t = 0; t < all.targets.size(); ++t) series.push_back({all.targets[t], all.rates[t], t});
  return series;
}

AdversarialPictures pictures_of(const AttackResults& results, const AttackExample& example) {
  if (results.attack.words || example.original.size() > max_picture_elements) return {};
  return adversarial_pictures(example.original, example.changed, results.sample_shape());
}

std::string attacked_text(const AttackResults& results, const AttackExample& example) {
  std::string text;
  for (std::size_t i = 0; i < example.attacked.size(); ++i)
    text += fmt::format("{}{}",
                        i == 0                             ? ""
                        : i + 1 == example.attacked.size() ? " and "
                                                           : ", ",
                        results.attack.results[example.attacked[i]].target);
  return text;
}

std::string changes_text(const AttackExample& example) {
  std::string text;
  std::size_t changes = 0;
  for (std::size_t i = 0; i < example.original.size() && i < example.changed.size(); ++i) {
    if (example.original[i] == example.changed[i]) continue;
    if (++changes <= max_changes)
      text += fmt::format("{}word {}: {:.0f} to {:.0f}", text.empty() ? "" : ", ", i + 1, example.original[i],
                          example.changed[i]);
  }
  return changes > max_changes ? text + fmt::format(" and {} more", changes - max_changes) : text;
}

}  // namespace driftscope
