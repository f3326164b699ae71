#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/bench/bench_report.hpp"

namespace driftscope {
namespace {

constexpr BenchTime all_times_of_a_row[] = {BenchTime::run, BenchTime::load, BenchTime::first};

/// Times of a launch; nothing where it has none.
std::optional<double> ratio_of_launch(const BenchRow& reference, const BenchRow& row, BenchTime time,
                                      std::size_t launch, double confidence) {
  if (time == BenchTime::run) {
    const auto number = static_cast<std::int64_t>(launch);
    const auto ratio = paired_ratio(round_medians(series_of_launch(reference.series, number)),
                                    round_medians(series_of_launch(row.series, number)), confidence);
    return ratio ? std::optional(ratio->value) : std::nullopt;
  }
  const auto of = [&](const BenchRow& one) {
    return time == BenchTime::load ? one.launches[launch].load_ms : one.launches[launch].first_ms;
  };
  if (!(of(reference) > 0.0) || !(of(row) > 0.0)) return std::nullopt;
  return of(reference) / of(row);
}

const BenchRow* find_reference(const BenchReport& report, const BenchRow& row) {
  const auto found = std::ranges::find_if(report.rows, [&](const BenchRow& other) {
    if (&other == &row || !other.measured() || other.model != row.model || other.group != row.group)
      return false;
    return other.reference.empty() ? other.base_name == report.against : other.target == row.target;
  });
  return found == report.rows.end() ? nullptr : &*found;
}

/// Ratios of a row, one for each launch that both have.
struct Pairs {
  const BenchRow* row;
  BenchTime time;
  std::vector<double> ratios;
};

std::vector<Pairs> pairs_of(const BenchReport& report) {
  std::vector<Pairs> all;
  for (const BenchTime time : all_times_of_a_row)
    for (const BenchRow& row : report.rows) {
      const BenchRow* reference = row.reference.empty() ? find_reference(report, row) : nullptr;
      if (reference == nullptr || !row.measured()) continue;
      Pairs pairs{&row, time, {}};
      for (std::size_t i = 0; i < std::min(row.launches.size(), reference->launches.size()); ++i)
        if (const auto ratio = ratio_of_launch(*reference, row, time, i, report.limits.confidence))
          pairs.ratios.push_back(*ratio);
      all.push_back(std::move(pairs));
    }
  return all;
}

/// The geometric mean over models, one per launch. Launches of different models are independent: it does not
/// matter which go together.
std::vector<double> mean_ratios(std::span<const Pairs* const> models) {
  std::size_t launches = models.front()->ratios.size();
  for (const Pairs* one : models) launches = std::min(launches, one->ratios.size());
  std::vector<double> means(launches, 0.0);
  for (std::size_t i = 0; i < launches; ++i) {
    for (const Pairs* one : models) means[i] += std::log(one->ratios[i]);
    means[i] = std::exp(means[i] / static_cast<double>(models.size()));
  }
  return means;
}

}  // namespace

std::string_view bench_time_words(BenchTime time) {
  switch (time) {
    case BenchTime::run: return "run";
    case BenchTime::load: return "load";
    case BenchTime::first: return "first run";
  }
  return "run";
}

void add_contrasts(BenchReport& report) {
  const std::vector<Pairs> all = pairs_of(report);
  std::map<std::tuple<std::string, std::string, BenchTime>, std::vector<const Pairs*>> over_models;
  for (const Pairs& pairs : all)
    if (pairs.ratios.size() > 1)
      over_models[{pairs.row->group, pairs.row->target, pairs.time}].push_back(&pairs);
  std::erase_if(over_models, [](const auto& entry) { return entry.second.size() < 2; });
  // Of one kind of time.
  const double count = static_cast<double>(all.size() + over_models.size()) / std::size(all_times_of_a_row);
  const double confidence = 1.0 - (1.0 - report.limits.confidence) / std::max(count, 1.0);
  for (const Pairs& pairs : all)
    if (const auto found = contrast(pairs.ratios, confidence))
      report.contrasts.push_back(
          {pairs.row->model, pairs.row->group, pairs.row->target, pairs.time, 1, *found});
  for (const auto& [key, models] : over_models) {
    const auto& [group, target, time] = key;
    if (const auto found = contrast(mean_ratios(models), confidence))
      report.contrasts.push_back({"", group, target, time, models.size(), *found});
  }
}

}  // namespace driftscope
