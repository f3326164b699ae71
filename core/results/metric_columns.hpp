// The metrics of every layer on every target as columns of numbers, which the GUI sorts, draws and exports.
// A column is stored in blocks, a block of equal values as one number: most targets agree in most layers.
// The set of columns follows from metrics_table.hpp. Clients: layer_results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/results/metrics_table.hpp"

namespace driftscope {

/// A metric as measured by one source.
struct MetricOfSource {
  const MetricRow* row = nullptr;
  MetricSource source = MetricSource::verify;
};

/// An index into metric_columns.
enum class Metric : std::uint8_t {};

[[nodiscard]] constexpr bool has_metric(const MetricRow& row, MetricSource source) {
  switch (source) {
    case MetricSource::verify: return row.field.index() <= 2;
    case MetricSource::compare: return row.field.index() <= 1 || row.field.index() == 3;
    case MetricSource::run: break;
  }
  return row.field.index() == 4;
}

inline constexpr std::size_t metric_count = [] {
  std::size_t count = 0;
  for (const MetricRow& row : metrics_table)
    for (const auto source : {MetricSource::verify, MetricSource::compare, MetricSource::run})
      count += has_metric(row, source) ? 1 : 0;
  return count;
}();

/// Every row once for each source that has it.
inline constexpr auto metric_columns = [] {
  std::array<MetricOfSource, metric_count> columns{};
  std::size_t next = 0;
  for (const auto source : {MetricSource::verify, MetricSource::compare, MetricSource::run})
    for (const MetricRow& row : metrics_table)
      if (has_metric(row, source)) columns[next++] = {&row, source};
  return columns;
}();

[[nodiscard]] constexpr const MetricRow& row_of(Metric metric) {
  return *metric_columns[static_cast<std::size_t>(metric)].row;
}
[[nodiscard]] constexpr MetricSource source_of(Metric metric) {
  return metric_columns[static_cast<std::size_t>(metric)].source;
}
[[nodiscard]] constexpr const Appearance& appearance(Metric metric) {
  return appearance(row_of(metric), source_of(metric));
}

void the_source_has_no_such_metric();  // not constexpr: reaching it in consteval code is an error

/// The metric with a key; a key that the source does not have is a compile-time error.
[[nodiscard]] consteval Metric metric_of(MetricSource source, std::string_view key) {
  for (std::size_t i = 0; i < metric_count; ++i)
    if (metric_columns[i].source == source && metric_columns[i].row->key == key)
      return static_cast<Metric>(i);
  the_source_has_no_such_metric();
  return {};
}
[[nodiscard]] consteval Metric verified_metric(std::string_view key) {
  return metric_of(MetricSource::verify, key);
}
[[nodiscard]] consteval Metric compared_metric(std::string_view key) {
  return metric_of(MetricSource::compare, key);
}
[[nodiscard]] consteval Metric timed_metric(std::string_view key) {
  return metric_of(MetricSource::run, key);
}

/// An ordered selection of metrics.
struct MetricList {
  std::array<Metric, metric_count> metrics{};
  std::size_t count = 0;
  [[nodiscard]] constexpr auto begin() const { return metrics.begin(); }
  [[nodiscard]] constexpr auto end() const { return metrics.begin() + static_cast<std::ptrdiff_t>(count); }
  [[nodiscard]] constexpr std::size_t size() const { return count; }
  [[nodiscard]] constexpr Metric operator[](std::size_t place) const { return metrics[place]; }
};

/// The metrics for which `place(metric)` is not 0, in the order of these places.
template <class Place>
[[nodiscard]] constexpr MetricList metrics_by_place(const Place& place) {
  MetricList found;
  for (std::size_t i = 0; i < metric_count; ++i)
    if (place(static_cast<Metric>(i)) != 0) found.metrics[found.count++] = static_cast<Metric>(i);
  std::sort(found.metrics.begin(), found.metrics.begin() + static_cast<std::ptrdiff_t>(found.count),
            [&](Metric a, Metric b) { return place(a) < place(b); });
  return found;
}

/// Columns of the GUI and of CSV.
inline constexpr MetricList shown_metrics =
    metrics_by_place([](Metric metric) { return appearance(metric).column; });
/// The columns of a source's text table.
[[nodiscard]] constexpr MetricList table_metrics(MetricSource source) {
  return metrics_by_place(
      [=](Metric metric) { return source_of(metric) == source ? appearance(metric).table : 0; });
}
/// The columns of a source in the report's table of layers.
[[nodiscard]] constexpr MetricList report_metrics(MetricSource source) {
  return metrics_by_place(
      [=](Metric metric) { return source_of(metric) == source ? appearance(metric).report : 0; });
}

/// One number per layer; NaN where nothing is known.
class MetricColumn {
 public:
  [[nodiscard]] double operator[](std::size_t layer) const {
    const std::size_t block = layer / block_layers;
    if (block >= blocks_.size()) return not_measured;
    const Block& held = blocks_[block];
    return held.values.empty() ? held.all : held.values[layer % block_layers];
  }
  void set(std::size_t layer, double value);
  /// From here on blocks of equal values take no memory.
  void compact();
  [[nodiscard]] std::size_t bytes() const;

 private:
  static constexpr std::size_t block_layers = 256;
  struct Block {
    double all = not_measured;
    std::vector<double> values;  // empty: `all`, everywhere
  };
  std::vector<Block> blocks_;
};

}  // namespace driftscope
