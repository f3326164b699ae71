// The table of metrics: everything written about a layer is read again, and every row is complete.
#include "core/results/metrics_table.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>

#include "core/report/metric_text.hpp"
#include "core/results/comparison_reader.hpp"
#include "core/results/metric_columns.hpp"
#include "core/results/view_json.hpp"

namespace driftscope::test::metrics_table_test {
namespace {

/// A layer with another value in every field that the table knows.
template <class Layer>
Layer numbered_layer() {
  Layer layer;
  layer.node = "conv";
  layer.op = "Conv";
  layer.output = "y";
  int next = 1;
  for (const MetricRow& row : metrics_table)
    with_field(row, layer,
               [&](auto& field) { field = static_cast<std::remove_reference_t<decltype(field)>>(++next); });
  return layer;
}

template <class Layer>
void check_same_metrics(const Layer& got, const Layer& want, MetricSource source) {
  for (const MetricRow& row : metrics_table) {
    if (!appearance(row, source).json) continue;
    INFO("metric ", std::string(row.key));
    CHECK(metric_value(row, got) == metric_value(row, want));
    CHECK(metric_value(row, want) > 1.0);
  }
}

}  // namespace

TEST_CASE("MetricsTable_EveryRow_HasAKeyOfItsOwnAndATextWhereItIsShown") {
  std::set<std::string_view> keys;
  for (const MetricRow& row : metrics_table) {
    INFO("metric ", std::string(row.key));
    CHECK(keys.insert(row.key).second);
    CHECK_FALSE(row.title.empty());
    CHECK_FALSE(metric_text(row, 0.5).empty());
  }
  for (const Metric metric : shown_metrics) {
    INFO("metric ", std::string(row_of(metric).key));
    CHECK_FALSE(appearance(metric).name.empty());
    CHECK_FALSE(appearance(metric).help.empty());
  }
}

TEST_CASE("MetricsTable_WrittenAsJson_ComesBackTheSame") {
  ComparisonView view;
  view.left.target = "pc/strict";
  TargetResult& right = view.right.emplace_back();
  right.target = "pc/fast";
  right.verification.emplace();
  right.verification->verdict = Verdict::rounding;
  right.verification->layers.push_back(numbered_layer<LayerVerdict>());
  right.verification->layers[0].verdict = Verdict::rounding;
  right.comparison.emplace();
  right.comparison->layers.push_back(numbered_layer<LayerDifference>());
  const auto again = read_comparison(view_json(view));
  REQUIRE_MESSAGE(again.ok(), again.error().message);
  REQUIRE(again->right.size() == 1);
  const TargetResult& read = again->right[0];
  REQUIRE(read.verification.has_value());
  REQUIRE(read.comparison.has_value());
  check_same_metrics(read.verification->layers.at(0), right.verification->layers[0], MetricSource::verify);
  check_same_metrics(read.comparison->layers.at(0), right.comparison->layers[0], MetricSource::compare);
}

TEST_CASE("MetricsTable_InfinityAndNan_ComeBackFromJson") {
  ComparisonView view;
  TargetResult& right = view.right.emplace_back();
  right.comparison.emplace();
  LayerDifference& layer = right.comparison->layers.emplace_back();
  layer.metrics.max_abs = INFINITY;
  layer.metrics.sqnr_db = -INFINITY;
  layer.metrics.cosine = NAN;
  const auto again = read_comparison(view_json(view));
  REQUIRE_MESSAGE(again.ok(), again.error().message);
  const Metrics& metrics = again->right.at(0).comparison->layers.at(0).metrics;
  CHECK(metrics.max_abs == INFINITY);
  CHECK(metrics.sqnr_db == -INFINITY);
  CHECK(std::isnan(metrics.cosine));
}

TEST_CASE("MetricColumns_SourcesHaveWhatTheirLayersHold") {
  LayerVerdict verified = numbered_layer<LayerVerdict>();
  LayerDifference difference = numbered_layer<LayerDifference>();
  const LayerTimes times{2, 3};
  for (const MetricOfSource& one : metric_columns) {
    INFO("metric ", std::string(one.row->key));
    const double value = one.source == MetricSource::verify    ? metric_value(*one.row, verified)
                         : one.source == MetricSource::compare ? metric_value(*one.row, difference)
                                                               : metric_value(*one.row, times);
    CHECK(value > 1.0);
  }
  CHECK(row_of(compared_metric("kl")).key == "kl");
}

}  // namespace driftscope::test::metrics_table_test
