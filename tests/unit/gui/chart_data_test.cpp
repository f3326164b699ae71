// What the charts show of a snapshot, and that they can be drawn without a screen.
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "core/draw/drift_chart.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/gui/chart_data.hpp"
#include "core/gui/run_history.hpp"
#include "tests/unit/gui/snapshot_builder.hpp"
#include "tests/unit/support/dense_painter.hpp"
#include "tests/unit/support/text.hpp"

namespace driftscope::test::chart_data_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

gui::Snapshot drifting() {
  auto snapshot = snapshot_of({run_of("pc/strict", {{"a/x", "Conv", "a", {1, 2}, 100},
                                                    {"a/y", "Relu", "b", {3, 4}, 300},
                                                    {"b/z", "Add", "c", {5, 6}, 600}}),
                               run_of("chrome/strict", {{"a/x", "Conv", "a", {1, 2}, 200},
                                                        {"a/y", "Relu", "b", {3, 4.5f}, 300},
                                                        {"b/z", "Add", "c", {5, 8}, 500}})});
  snapshot.results.set(1, 1, verified_metric("max_abs"), 0.5);
  snapshot.results.set(2, 1, verified_metric("max_abs"), 0.125);
  return snapshot;
}

}  // namespace

TEST_CASE("DriftSeries_TellWhereAnErrorIsBornAndWhatIsInherited") {
  const auto snapshot = drifting();
  const auto series = gui::drift_of(snapshot, DriftMeasure::absolute).series;
  REQUIRE(series.size() == 1);
  CHECK(series[0].total == std::vector<double>{0.0, 0.5, 2.0});
  CHECK(born_at(series[0]) == 1);
  CHECK(inherited_error(2.0, 0.125) == 1.875);
  CHECK(inherited_error(0.1, 0.5) == 0.0);
  CHECK(inherited_error(infinity, infinity) == 0.0);
  CHECK(std::isnan(inherited_error(std::nan(""), 1.0)));
}

TEST_CASE("Drift_ConstantsAndIndices_AreNoPartOfIt") {
  auto snapshot = drifting();
  snapshot.layers[0].constant = true;
  snapshot.layers[2].dtype = DType::int64;
  const Drift drift = gui::drift_of(snapshot, DriftMeasure::relative);
  CHECK(drift.layers == std::vector<std::size_t>{1});
  REQUIRE(drift.series.size() == 1);
  // {3, 4} and {3, 4.5}: the error is 0.5, the signal 5.
  REQUIRE(drift.series[0].total.size() == 1);
  CHECK(drift.series[0].total[0] == doctest::Approx(0.1));
  snapshot.results.state(0, 1).verdict = Verdict::fault;
  CHECK(gui::drift_of(snapshot, DriftMeasure::relative).layers == std::vector<std::size_t>{0, 1});
}

TEST_CASE("DriftChart_IsDrawnAndFoundAgainUnderTheMouse") {
  const auto snapshot = drifting();
  SvgPainter painter(600, 300, rgb(0xffffff));
  DriftChart chart;
  chart.box = {0, 0, 600, 300};
  chart.last = 3;
  paint_drift(painter, chart, gui::drift_of(snapshot, DriftMeasure::absolute), light_theme());
  const Box area = drift_area(painter, chart);
  CHECK(drift_layer_at(painter, chart, {area.left + 7.0f, 100.0f}) == 0);
  CHECK(drift_layer_at(painter, chart, {area.centre().x, 100.0f}) == 1);
  CHECK(drift_layer_at(painter, chart, {area.right - 1.0f, 100.0f}) == 2);
  CHECK(drift_layer_at(painter, chart, {area.left - 5.0f, 100.0f}) == no_place);
  const std::string svg = painter.finish();
  CHECK(count_of("<polyline", svg) == 1);  // the whole difference
  CHECK(count_of("<circle", svg) == 2);    // two layers' own errors
  CHECK(svg.find("max abs difference") != std::string::npos);
}

TEST_CASE("DriftChart_TenThousandLayers_DrawNoMorePointsThanPixels") {
  gui::Snapshot snapshot;
  snapshot.targets.resize(2);
  snapshot.layers.resize(10'000);
  snapshot.results = LayerResults(10'000, 2);
  for (std::size_t i = 0; i < 10'000; ++i)
    snapshot.results.set(i, 1, compared_metric("max_abs"), 1e-6 * static_cast<double>(1 + i % 17));
  SvgPainter painter(600, 300, rgb(0xffffff));
  DriftChart chart;
  chart.box = {0, 0, 600, 300};
  chart.last = 10'000;
  paint_drift(painter, chart, gui::drift_of(snapshot, DriftMeasure::absolute), light_theme());
  CHECK(painter.finish().size() < 60'000);
}

TEST_CASE("Flame_ScopesOfNames_AreNested") {
  const auto snapshot = drifting();
  const Flame flame = gui::flame_of(snapshot, 0, false);
  REQUIRE(flame.spans.size() == 5);  // a (x, y), b (z)
  CHECK(flame.total_ns == 1000);
  CHECK(flame.spans[0].name == "a");
  CHECK(flame.spans[0].end_ns == 400);
  CHECK(flame.spans[0].layer == no_place);
  CHECK(flame.spans[1].name == "x");
  CHECK(flame.spans[1].layer == 0);
  CHECK(flame.spans[3].name == "b");
  CHECK(flame.spans[3].begin_ns == 400);
  CHECK(gui::flame_of(snapshot, 0, true).total_ns == 2000);
  const SvgPainter painter(10, 10, rgb(0xffffff));
  const FlameView view{{0, 0, 1000, 200}, 0, 1000, no_place};
  const FlameSpan* span = flame_at(painter, view, flame, {450.0f, flame_level_height(painter) * 1.5f});
  REQUIRE(span != nullptr);
  CHECK(span->name == "z");
}

TEST_CASE("TimeRow_HasABarForEachTarget_AndRatiosToTheFirst") {
  const auto snapshot = drifting();
  CHECK(gui::longest_layer_ns(snapshot, false) == 600);
  CHECK(gui::longest_layer_ns(snapshot, true) == 1200);
  DensePainter painter;
  paint_times(painter, {0, 0, 608, 46}, gui::layer_times(snapshot, 0, false), 600, light_theme());
  REQUIRE(painter.boxes.size() == 2);
  CHECK(painter.boxes[0].width() == doctest::Approx(100.0));
  CHECK(painter.boxes[1].width() == doctest::Approx(200.0));
  CHECK(painter.boxes[0].bottom <= painter.boxes[1].top);
  REQUIRE(painter.texts.size() == 2);
  CHECK(painter.texts[0] == "0.10 µs");
  CHECK(painter.texts[1] == "0.20 µs  " + ratio_text(2.0));
}

TEST_CASE("AliveBytes_FollowTheLifetimesOfValues") {
  gui::Snapshot snapshot;
  snapshot.has_structure = true;
  snapshot.targets.resize(1);
  snapshot.layers.resize(4);
  for (std::size_t i = 0; i < 4; ++i) snapshot.layers[i].bytes = 10;
  snapshot.layers[1].inputs = {0};
  snapshot.layers[2].inputs = {1};
  snapshot.layers[3].inputs = {0, 2};  // the first lives on until here
  snapshot.results = LayerResults(4, 1);
  CHECK(gui::alive_values(snapshot).bytes == std::vector<std::int64_t>{10, 20, 30, 30});
  snapshot.layers[1].constant = true;
  CHECK(gui::alive_values(snapshot).layers == std::vector<std::size_t>{0, 2, 3});
  CHECK(gui::alive_values(snapshot).bytes == std::vector<std::int64_t>{10, 20, 30});
  snapshot.has_structure = false;
  CHECK(gui::alive_values(snapshot).bytes.empty());
}

TEST_CASE("MemoryCurves_AreApartByKindAndInOrderOfTime") {
  auto snapshot = drifting();
  snapshot.targets[1].about.memory = {{20.0, 5, "wasm_heap"},
                                      {10.0, 3, "wasm_heap"},
                                      {0.0, 99, "process_tree_pss"},
                                      {infinity, 7, "wasm_heap"}};
  const auto series = gui::memory_curves(snapshot);
  REQUIRE(series.size() == 2);
  CHECK(series[0].samples.size() == 2);
  CHECK(series[0].samples[0].bytes == 3);
  SvgPainter painter(600, 300, rgb(0xffffff));
  paint_memory(painter, {0, 0, 600, 300}, series, light_theme());
  CHECK(painter.finish().find("wasm heap") != std::string::npos);  // with two kinds the name is shown
}

// The ratios that WCAG 2 and its tools give.
TEST_CASE("RunTrend_SaysWhatBecameSlower") {
  const std::vector<BuildTimes> builds = {{"one", {100.0, 101.0, 99.0, 100.0}},
                                          {"two", {150.0, 151.0, 149.0}}};
  const std::vector<std::string> seen = {"2026-01-01", "2026-01-02"};
  const gui::RunTrend trend = gui::make_trend("lenet5", "here", builds, seen, 0.99);
  REQUIRE(trend.points.size() == 2);
  CHECK(trend.points[1].change == Change::slower);
  CHECK(gui::change_words(trend.points[1]).find("slower, +5") == 0);
  CHECK(gui::trend_table({trend}).size() == 3);
}

}  // namespace driftscope::test::chart_data_test
