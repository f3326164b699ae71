// What verify and compare found, as one model: layers down, targets across, a column for each metric, texts
// where there are any. Made from runs in memory or from JSON alike. Clients: GUI, report, tables.
// Knows no names of layers: its owner knows which row is which.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/results/metric_columns.hpp"

namespace driftscope {

/// An index of a layer, a tensor or a target that there is not.
inline constexpr std::size_t no_place = static_cast<std::size_t>(-1);

/// One layer on one target, apart from numbers.
struct LayerState {
  Verdict verdict = Verdict::missing;
  bool verified = false;   ///< by verify
  bool compared = false;   ///< with the left target
  bool mismatch = false;   ///< another shape or dtype than the left target's
  bool inherited = false;  ///< differs only because its inputs do
};

class LayerResults;

/// One layer on one target; the results must outlive it.
struct ResultCell : LayerState {
  ResultCell(const LayerResults& of, std::size_t layer, std::size_t target);

  /// NaN when it is not known.
  [[nodiscard]] double operator[](Metric metric) const;
  /// The same for a count or a time: 0 when it is not known.
  [[nodiscard]] std::int64_t whole(Metric metric) const;
  /// Why it could not be compared or judged, or how it was matched; usually empty.
  [[nodiscard]] const std::string& note() const;
  /// Whether bits or the shape differ from the left target's.
  [[nodiscard]] bool differs() const;
  [[nodiscard]] std::int64_t time_ns() const { return whole(timed_metric("time")); }
  [[nodiscard]] std::int64_t first_ns() const { return whole(timed_metric("first_time")); }
  /// From the comparison, else from verification.
  [[nodiscard]] std::int64_t nan() const;
  [[nodiscard]] std::int64_t inf() const;

 private:
  const LayerResults* results_;
  std::size_t layer_;
  std::size_t target_;
};

class LayerResults {
 public:
  LayerResults() = default;
  LayerResults(std::size_t layers, std::size_t targets);

  [[nodiscard]] std::size_t layers() const { return layers_; }
  [[nodiscard]] std::size_t targets() const { return targets_; }
  [[nodiscard]] ResultCell cell(std::size_t layer, std::size_t target) const {
    return {*this, layer, target};
  }
  [[nodiscard]] double value(std::size_t layer, std::size_t target, Metric metric) const {
    return columns_[target * metric_count + static_cast<std::size_t>(metric)][layer];
  }
  [[nodiscard]] const LayerState& state(std::size_t layer, std::size_t target) const {
    return states_[target * layers_ + layer];
  }
  [[nodiscard]] const std::string& note(std::size_t layer, std::size_t target) const;

  void set(std::size_t layer, std::size_t target, Metric metric, double value);
  [[nodiscard]] LayerState& state(std::size_t layer, std::size_t target) {
    return states_[target * layers_ + layer];
  }
  /// Adds a text unless it is there.
  void add_note(std::size_t layer, std::size_t target, const std::string& text);
  void set_times(std::size_t layer, std::size_t target, const LayerTimes& times);
  /// Sets compare's result (may be null) and verify's: the verdict follows from both.
  void set_findings(std::size_t layer, std::size_t target, const LayerDifference* difference,
                    const LayerVerdict* verified);
  /// To be called once a target is complete.
  void compact(std::size_t target);
  /// Approximate memory use.
  [[nodiscard]] std::size_t bytes() const;

 private:
  template <class Layer>
  void set_metrics(std::size_t layer, std::size_t target, MetricSource source, const Layer& record);

  std::size_t layers_ = 0;
  std::size_t targets_ = 0;
  std::vector<LayerState> states_;                      // target by target
  std::vector<MetricColumn> columns_;                   // target by target
  std::unordered_map<std::size_t, std::string> notes_;  // keyed by index into states_
};

}  // namespace driftscope
