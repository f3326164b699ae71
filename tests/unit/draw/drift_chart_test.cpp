// The drift chart: what has a place in it, and that it stays small.
#include "core/draw/drift_chart.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/draw/svg_painter.hpp"
#include "tests/unit/support/text.hpp"

namespace driftscope::test::drift_chart_test {
namespace {

Drift drift_with(DriftMeasure measure, std::vector<double> total, std::vector<double> local = {}) {
  Drift drift{measure, {}, {}, {}};
  for (std::size_t i = 0; i < total.size(); ++i) {
    drift.layers.push_back(i);
    drift.names.push_back("n" + std::to_string(i));
  }
  local.resize(total.size(), not_measured);
  drift.series.push_back(
      {1, "t", std::move(total), std::move(local), std::vector<bool>(drift.layers.size())});
  return drift;
}

struct Drawn {
  std::string svg;
  std::size_t together = 0;  ///< layers of a point
};

Drawn drawn(const Drift& drift, bool compact = false) {
  SvgPainter painter({1000.0f, 330.0f, "class=\"chart\""});
  DriftChart chart;
  chart.box = {0, 0, 1000, 330};
  chart.last = drift.layers.size();
  chart.compact = compact;
  paint_drift(painter, chart, drift, light_theme());
  return {painter.finish(), layers_per_point(painter, chart)};
}

}  // namespace

TEST_CASE("DriftChart_ZerosGapsAndInfinity_HavePlaces") {
  const std::string joined = drawn(drift_with(DriftMeasure::relative, {0.0, NAN, INFINITY, 1e-3})).svg;
  CHECK(!holds(joined, "nan\""));
  CHECK(!holds(joined, "inf\""));
  CHECK(holds(joined, "t · n0: 0<"));
  CHECK(holds(joined, "t · n2: inf<"));
  CHECK(!holds(joined, "n1:"));
  CHECK(count_of("<polyline", joined) == 1);  // a gap parts the first from the others
  CHECK(holds(joined, ">0</text>"));
}

TEST_CASE("DriftChart_SharesOfABudget_AreNotJoinedAndLeaveOutZeros") {
  const std::string svg = drawn(drift_with(DriftMeasure::budget, {0.0, 0.5, 0.25, 2.0})).svg;
  CHECK(count_of("<polyline", svg) == 0);
  CHECK(!holds(svg, "n0: 0"));
  CHECK(holds(svg, "n3: 2<"));
  CHECK(holds(svg, "values beyond it are faults"));
}

TEST_CASE("DriftChart_OwnErrors_AreRingsWhereThereAreAny") {
  const std::string svg = drawn(drift_with(DriftMeasure::relative, {1e-7, 2e-7, 3e-7}, {1e-7, 0.0, NAN})).svg;
  CHECK(count_of("its own error", svg) == 1);
  CHECK(holds(svg, "t · n0: its own error 1e-07<"));
}

TEST_CASE("DriftChart_OfManyLayers_DrawsTheWorstOfEachGroupAndStaysSmall") {
  for (const DriftMeasure measure : {DriftMeasure::relative, DriftMeasure::budget}) {
    Drift drift = drift_with(measure, std::vector<double>(10'000, 1e-6));
    drift.series[0].total[7'777] = 1e3;
    for (std::size_t i = 0; i < 10'000; i += 2) drift.series[0].faults[i] = true;
    const Drawn chart = drawn(drift, true);
    CHECK(chart.together > 40);
    CHECK(chart.together < 60);
    CHECK(chart.svg.size() < 60'000);
    CHECK(holds(chart.svg, "1e2<"));
    drift.series[0].faults.assign(10'000, false);
    CHECK(drawn(drift, true).svg.size() < 25'000);
  }
}

TEST_CASE("DriftChart_OfNoLayers_IsEmpty") {
  CHECK(count_of("<", drawn(drift_with(DriftMeasure::relative, {})).svg) == 2);
}

TEST_CASE("DriftChart_Mark_StandsBesideItsLayer") {
  SvgPainter painter({1000.0f, 330.0f, ""});
  const Drift drift = drift_with(DriftMeasure::relative, {1e-7, 2e-7});
  DriftChart chart;
  chart.box = {0, 0, 1000, 330};
  chart.last = 2;
  chart.mark = DriftMark{1, "first difference: n1"};
  paint_drift(painter, chart, drift, light_theme());
  const std::string svg = painter.finish();
  CHECK(holds(svg, "text-anchor=\"end\" fill=\"var(--ink)\">first difference: n1<"));
}

}  // namespace driftscope::test::drift_chart_test
