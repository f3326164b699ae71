// Columns of metrics: values are read back as set, equal values take no memory.
#include "core/results/layer_results.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace driftscope::test::layer_results_test {
namespace {

constexpr Metric max_abs = compared_metric("max_abs");

LayerDifference difference_of(double error, std::int64_t different) {
  LayerDifference difference;
  difference.metrics.max_abs = error;
  difference.metrics.different_elements = different;
  difference.metrics.elements = 10;
  difference.right_ns = 70;
  return difference;
}

}  // namespace

TEST_CASE("MetricColumn_Compacted_HoldsTheSameValues") {
  MetricColumn column;
  CHECK(std::isnan(column[12'345]));
  for (std::size_t i = 0; i < 5000; ++i)
    if (i != 7) column.set(i, i < 4000 ? 0.0 : static_cast<double>(i));
  const std::size_t before = column.bytes();
  column.compact();
  CHECK(column.bytes() < before / 2);
  CHECK(std::isnan(column[7]));
  CHECK(column[2999] == 0.0);
  CHECK_FALSE(std::signbit(column[6]));
  CHECK(column[4999] == 4999.0);
  column.set(100, -0.0);
  CHECK(std::signbit(column[100]));
  CHECK_FALSE(std::signbit(column[101]));
  column.set(300, not_measured);
  CHECK(std::isnan(column[300]));
  CHECK(column[301] == 0.0);
}

TEST_CASE("LayerResults_OfFindings_KnowVerdictNumbersAndTexts") {
  LayerResults results(3, 2);
  LayerVerdict exact;
  exact.verdict = Verdict::identical;
  exact.budget_used = 0.25;
  const LayerDifference differs = difference_of(0.5, 4);
  results.set_findings(0, 1, &differs, &exact);
  LayerDifference other_shape;
  other_shape.reason = "expected shape 1x2, got 1x3";
  results.set_findings(1, 1, &other_shape, nullptr);
  results.set_findings(0, 0, nullptr, &exact);
  results.compact(0);
  results.compact(1);

  const ResultCell inherited = results.cell(0, 1);
  CHECK(inherited.verdict == Verdict::rounding);
  CHECK(inherited.inherited);
  CHECK(inherited.compared);
  CHECK(inherited[max_abs] == 0.5);
  CHECK(inherited[verified_metric("budget_used")] == 0.25);
  CHECK(inherited.whole(compared_metric("elements")) == 10);
  CHECK(inherited.time_ns() == 70);
  CHECK(inherited.first_ns() == 0);
  CHECK(inherited.differs());
  CHECK(inherited.note().empty());

  const ResultCell mismatch = results.cell(1, 1);
  CHECK(mismatch.mismatch);
  CHECK(mismatch.differs());
  CHECK(mismatch.note() == other_shape.reason);
  CHECK(std::isnan(mismatch[max_abs]));
  CHECK(results.cell(0, 0).verdict == Verdict::identical);
  CHECK(std::isnan(results.cell(0, 0)[max_abs]));
  CHECK(results.cell(2, 1).verdict == Verdict::missing);
}

TEST_CASE("LayerResults_ManyEqualLayers_TakeLittleRoom") {
  constexpr std::size_t layers = 100'000;
  LayerResults results(layers, 6);
  const LayerDifference same = difference_of(0.0, 0);
  for (std::size_t t = 1; t < 6; ++t) {
    for (std::size_t i = 0; i < layers; ++i) results.set_findings(i, t, &same, nullptr);
    results.compact(t);
  }
  CHECK(results.cell(99'999, 5).verdict == Verdict::identical);
  CHECK(results.bytes() < 10'000'000);
}

}  // namespace driftscope::test::layer_results_test
