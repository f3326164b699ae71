// The one table of metrics: what a metric is called, where its value lies, which way is better, how it is
// written and where it appears. JSON both ways, text tables, the GUI's columns, their sorting and details,
// and CSV go through its rows, so that another metric is one more row here. Clients: all of these.
// Computes nothing: the values come from core/verify.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <variant>

#include "core/verify/compare.hpp"

namespace driftscope {

inline constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// Times of a layer on one target, ns; 0: unknown.
struct LayerTimes {
  std::int64_t steady_ns = 0;  ///< median without the first run
  std::int64_t first_ns = 0;
};

/// Where a value is stored. A field of Metrics exists twice: as measured by verify against the reference, and
/// by compare against the left target.
using MetricField = std::variant<double Metrics::*, std::int64_t Metrics::*, double LayerVerdict::*,
                                 double LayerDifference::*, std::int64_t LayerTimes::*>;

enum class Better { lower, higher, neither };
/// share: fraction of a limit; above 1 it is exceeded.
enum class MetricFormat { number, share, ulp, count, cosine, decibel, time };
enum class MetricSource { verify, compare, run };

/// Where a metric of one source appears. Columns are ordered by these numbers; 0: not shown there.
struct Appearance {
  bool json = false;        ///< a key of the source's layers
  int table = 0;            ///< place in the source's text table
  int report = 0;           ///< place in the report's table of layers
  int column = 0;           ///< order among the columns of the GUI, which sorts by it, and of CSV
  bool details = false;     ///< beside the selected layer
  std::string_view name{};  ///< in the GUI
  std::string_view help{};  ///< one sentence
};

struct MetricRow {
  std::string_view key;    ///< in JSON
  std::string_view title;  ///< of a column of a text table
  MetricField field;
  Better better = Better::lower;
  MetricFormat format = MetricFormat::number;
  bool optional = false;  ///< not always computed: no key, and no column where no layer has it
  Appearance verified{};
  Appearance compared{};
  Appearance timed{};
};

/// In the order of the JSON's keys.
inline constexpr auto metrics_table = std::to_array<MetricRow>({
    {.key = "budget_used",
     .title = "budget",
     .field = &LayerVerdict::budget_used,
     .format = MetricFormat::share,
     .verified = {.json = true,
                  .table = 40,
                  .report = 10,
                  .column = 10,
                  .details = true,
                  .name = "budget used",
                  .help = "Largest error of the layer itself, as a share of its rounding budget"}},
    {.key = "budget_used_statistical",
     .title = "statistical",
     .field = &LayerVerdict::budget_used_statistical,
     .verified = {.json = true, .table = 50}},
    {.key = "sensitivity",
     .title = "sensitivity",
     .field = &LayerVerdict::sensitivity,
     .format = MetricFormat::share,
     .optional = true,
     .verified = {.json = true,
                  .table = 60,
                  .report = 20,
                  .column = 11,
                  .details = true,
                  .name = "sensitivity",
                  .help = "The layer's share in how far rounding is expected to move the answer (first-order "
                          "estimate)"}},
    {.key = "can_move",
     .title = "can move",
     .field = &LayerVerdict::can_move,
     .optional = true,
     .verified = {.json = true,
                  .column = 12,
                  .details = true,
                  .name = "can move",
                  .help = "How far the layer's rounding budget can move the answer at most (first-order "
                          "estimate)"}},
    {.key = "likely_move",
     .title = "likely move",
     .field = &LayerVerdict::likely_move,
     .optional = true,
     .verified = {.json = true,
                  .column = 13,
                  .details = true,
                  .name = "likely move",
                  .help = "How far independent roundings of the layer likely move the answer (first-order "
                          "estimate)"}},
    {.key = "moved",
     .title = "moved",
     .field = &LayerVerdict::moved,
     .better = Better::neither,
     .optional = true,
     .verified = {.json = true,
                  .table = 70,
                  .column = 14,
                  .details = true,
                  .name = "moved",
                  .help = "How far the layer's own error has moved the answer (first-order estimate)"}},
    {.key = "max_abs",
     .title = "max abs",
     .field = &Metrics::max_abs,
     .verified = {.json = true,
                  .table = 20,
                  .column = 80,
                  .details = true,
                  .name = "own error",
                  .help = "Largest absolute error of the layer itself, from its own inputs"},
     .compared = {.json = true,
                  .table = 20,
                  .report = 20,
                  .column = 20,
                  .details = true,
                  .name = "max abs",
                  .help = "Largest absolute difference from the left target"}},
    {.key = "max_rel",
     .title = "max rel",
     .field = &Metrics::max_rel,
     .verified = {.json = true},
     .compared = {.json = true,
                  .column = 30,
                  .name = "max rel",
                  .help = "Largest relative difference from the left target"}},
    {.key = "max_ulp",
     .title = "max ULP",
     .field = &Metrics::max_ulp,
     .format = MetricFormat::ulp,
     .verified = {.json = true, .table = 30},
     .compared = {.json = true,
                  .table = 30,
                  .report = 30,
                  .column = 40,
                  .details = true,
                  .name = "max ULP",
                  .help = "Largest difference from the left target, in units in the last place"}},
    {.key = "mean_abs",
     .title = "mean abs",
     .field = &Metrics::mean_abs,
     .verified = {.json = true},
     .compared = {.json = true}},
    {.key = "mean_rel",
     .title = "mean rel",
     .field = &Metrics::mean_rel,
     .verified = {.json = true},
     .compared = {.json = true,
                  .column = 35,
                  .details = true,
                  .name = "mean rel",
                  .help =
                      "Mean relative difference from the left target, over elements that are not 0 there"}},
    {.key = "mean_signed_z",
     .title = "mean signed z",
     .field = &LayerVerdict::mean_signed_z,
     .verified = {.json = true}},
    {.key = "cosine",
     .title = "cosine",
     .field = &Metrics::cosine,
     .better = Better::higher,
     .format = MetricFormat::cosine,
     .verified = {.json = true},
     .compared = {.json = true,
                  .column = 60,
                  .details = true,
                  .name = "cosine",
                  .help = "Cosine of the angle to the left target's tensor"}},
    {.key = "sqnr_db",
     .title = "SQNR",
     .field = &Metrics::sqnr_db,
     .better = Better::higher,
     .format = MetricFormat::decibel,
     .verified = {.json = true},
     .compared = {.json = true}},
    {.key = "kl",
     .title = "KL",
     .field = &LayerDifference::kl,
     .compared = {.json = true,
                  .column = 70,
                  .name = "KL",
                  .help = "Kullback-Leibler divergence from the left target, for distributions"}},
    {.key = "different_elements",
     .title = "differ",
     .field = &Metrics::different_elements,
     .format = MetricFormat::count,
     .verified = {.json = true, .table = 10},
     .compared = {.json = true,
                  .table = 10,
                  .report = 10,
                  .column = 50,
                  .name = "differ",
                  .help = "Elements with other bits than the left target's"}},
    {.key = "elements",
     .title = "elements",
     .field = &Metrics::elements,
     .better = Better::neither,
     .format = MetricFormat::count,
     .verified = {.json = true},
     .compared = {.json = true}},
    {.key = "nan",
     .title = "NaN",
     .field = &Metrics::nan,
     .format = MetricFormat::count,
     .verified = {.json = true},
     .compared = {.json = true}},
    {.key = "inf",
     .title = "infinite",
     .field = &Metrics::inf,
     .format = MetricFormat::count,
     .verified = {.json = true},
     .compared = {.json = true}},
    {.key = "time",
     .title = "time",
     .field = &LayerTimes::steady_ns,
     .format = MetricFormat::time,
     .timed = {.column = 90, .name = "time", .help = "Median time without the first run"}},
    {.key = "first_time",
     .title = "first run",
     .field = &LayerTimes::first_ns,
     .format = MetricFormat::time,
     .timed = {.column = 100, .name = "first run", .help = "Time of the first run, which warms up"}},
});

[[nodiscard]] constexpr const Appearance& appearance(const MetricRow& row, MetricSource source) {
  return source == MetricSource::verify    ? row.verified
         : source == MetricSource::compare ? row.compared
                                           : row.timed;
}

/// Calls body(value) where the layer, or its Metrics, has this field.
template <class Value, class Owner, class Layer, class Body>
constexpr void with_value(Value Owner::* field, Layer& layer, const Body& body) {
  if constexpr (std::is_same_v<Owner, std::remove_const_t<Layer>>)
    body(layer.*field);
  else if constexpr (std::is_same_v<Owner, Metrics> && requires { layer.metrics; })
    body(layer.metrics.*field);
}

/// Calls body(value) with the row's field of a LayerVerdict, LayerDifference or LayerTimes, if it has it.
template <class Layer, class Body>
constexpr void with_field(const MetricRow& row, Layer& layer, const Body& body) {
  std::visit([&](auto field) { with_value(field, layer, body); }, row.field);
}

/// The value as a number; NaN where the layer has no such field.
template <class Layer>
[[nodiscard]] constexpr double metric_value(const MetricRow& row, const Layer& layer) {
  double value = not_measured;
  with_field(row, layer, [&](auto field) { value = static_cast<double>(field); });
  return value;
}

}  // namespace driftscope
