#include "core/curves/layer_drift.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/base/format.hpp"

namespace driftscope {
namespace {

// A document may be of any size; what is beyond this cannot be looked at.
constexpr std::size_t most_pairs = 60;
constexpr std::size_t most_distances = 4'000'000;  // of a pair, all repetitions
constexpr std::size_t most_cells = 20'000;         // of a map; of more, epochs are put together

using Repetitions = std::vector<const documents::TrainingDrift*>;
using DistancesByEpoch = std::map<std::int64_t, std::vector<double>>;

constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// Which of them is larger; one that is not finite, as after a training diverged, is larger than all.
double farther(double so_far, double distance) {
  if (!std::isfinite(distance)) return HUGE_VAL;
  return std::isnan(so_far) ? distance : std::max(so_far, distance);
}

/// As the document defines it: the first layer, in the first epoch, that is further apart than `above`.
void mark_first(const documents::Training& training, LayerDrift& drift) {
  DriftMap& map = drift.map;
  map.threshold = training.parted_above;
  for (std::size_t e = 0; e < map.columns.size() && !map.mark; ++e)
    for (std::size_t l = 0; l < map.rows.size() && !map.mark; ++l)
      if (map.values[l][e] > map.threshold) map.mark = {l, e};
  const std::string above = format_number(training.parted_above);
  drift.about = map.mark ? fmt::format("{} parts first, in epoch {}: by more than {}.",
                                       map.rows[map.mark->row], map.columns[map.mark->column], above)
                         : fmt::format("No layer is further apart than {}.", above);
}

/// By name, in their order.
std::vector<std::pair<std::string, Repetitions>> pairs_of(const documents::TrainingModel& model) {
  std::vector<std::pair<std::string, Repetitions>> pairs;
  for (const documents::TrainingDrift& drift : model.drift) {
    const std::string name = fmt::format("{} and {}", drift.left, drift.right);
    auto at = std::ranges::find(pairs, name, [](const auto& one) { return one.first; });
    if (at == pairs.end() && pairs.size() >= most_pairs) continue;
    if (at == pairs.end()) at = pairs.insert(pairs.end(), {name, {}});
    at->second.push_back(&drift);
  }
  return pairs;
}

/// Of each layer; a point may have fewer values than the model has layers.
DistancesByEpoch distances_of(const Repetitions& repetitions, std::size_t layers) {
  DistancesByEpoch by_epoch;
  for (const documents::TrainingDrift* const drift : repetitions)
    for (const documents::TrainingDistance& point : drift->points) {
      std::vector<double>& distances = by_epoch[point.epoch];
      distances.resize(layers, not_measured);
      for (std::size_t l = 0; l < std::min(layers, point.layers.size()); ++l)
        distances[l] = farther(distances[l], point.layers[l]);
    }
  return by_epoch;
}

/// Columns of so many epochs, with the largest distance of each.
void put_together(DriftMap& map, std::size_t epochs) {
  std::vector<std::string> columns;
  for (std::size_t e = 0; e < map.columns.size(); e += epochs) columns.push_back(map.columns[e]);
  for (std::vector<double>& row : map.values) {
    std::vector<double> larger(columns.size(), not_measured);
    for (std::size_t e = 0; e < row.size(); ++e)
      if (!std::isnan(row[e])) larger[e / epochs] = farther(larger[e / epochs], row[e]);
    row = std::move(larger);
  }
  map.columns = std::move(columns);
  if (map.mark) map.mark->column /= epochs;
}

LayerDrift drift_of(const documents::Training& training, const documents::TrainingModel& model,
                    const std::string& name, const Repetitions& repetitions) {
  LayerDrift drift;
  drift.title = fmt::format("{}: {}", model.name, name);
  const std::size_t layers = model.layers.size();
  std::size_t points = 0;
  for (const documents::TrainingDrift* const one : repetitions) points += one->points.size();
  if (layers > most_cells || points > most_distances / layers) {
    drift.about = fmt::format("Not drawn: {} layers at {} points are too many.", layers, points);
    return drift;
  }
  drift.map.rows = model.layers;
  drift.map.columns_title = "epoch";
  drift.map.values.resize(layers);
  for (const auto& [epoch, distances] : distances_of(repetitions, layers)) {
    drift.map.columns.push_back(fmt::format("{}", epoch));
    for (std::size_t l = 0; l < layers; ++l) drift.map.values[l].push_back(distances[l]);
  }
  mark_first(training, drift);
  if (repetitions.size() > 1)
    drift.about += fmt::format(" The largest of {} repetitions.", repetitions.size());
  const std::size_t most_columns = std::max<std::size_t>(1, most_cells / layers);
  const std::size_t together = (drift.map.columns.size() + most_columns - 1) / most_columns;
  if (together > 1) {
    put_together(drift.map, together);
    drift.about += fmt::format(" A column is the largest of {} epochs.", together);
  }
  return drift;
}

/// One scale for all.
void share_scale(std::vector<LayerDrift>& drifts) {
  double least = HUGE_VAL;
  double largest = 0.0;
  for (const LayerDrift& drift : drifts)
    for (const std::vector<double>& row : drift.map.values)
      for (const double value : row)
        if (std::isfinite(value) && value > 0.0)
          least = std::min(least, value), largest = std::max(largest, value);
  if (!(largest > 0.0)) return;
  for (LayerDrift& drift : drifts) drift.map.least = least, drift.map.largest = largest;
}

}  // namespace

std::vector<LayerDrift> layer_drifts(const documents::Training& training) {
  std::vector<LayerDrift> drifts;
  for (const documents::TrainingModel& model : training.models)
    for (const auto& [name, repetitions] : pairs_of(model)) {
      const auto has_points = [](const documents::TrainingDrift* one) { return !one->points.empty(); };
      if (model.layers.empty() || std::ranges::none_of(repetitions, has_points)) continue;
      if (drifts.size() >= most_pairs) break;
      drifts.push_back(drift_of(training, model, name, repetitions));
    }
  share_scale(drifts);
  return drifts;
}

}  // namespace driftscope
