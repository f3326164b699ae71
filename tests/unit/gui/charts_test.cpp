// The parts of the charts, and that they can be drawn without a screen.
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "core/draw/axis.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/draw/verdict_mark.hpp"
#include "core/gui/drift_chart.hpp"
#include "core/gui/memory_chart.hpp"
#include "core/gui/run_history.hpp"
#include "core/gui/time_chart.hpp"
#include "tests/unit/gui/snapshot_builder.hpp"

namespace driftscope::test::charts_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

/// A dense display: records widths and radii in pixels, boxes and texts.
class DensePainter final : public gui::Painter {
 public:
  std::vector<float> radii;
  std::vector<float> widths;
  std::vector<gui::Box> boxes;
  std::vector<std::string> texts;
  float unit() const override { return 3.0f; }
  void line(gui::Point, gui::Point, gui::Colour, float width) override { widths.push_back(width * unit()); }
  void polyline(std::span<const gui::Point>, gui::Colour, float width) override {
    widths.push_back(width * unit());
  }
  void fill(gui::Box box, gui::Colour, float) override { boxes.push_back(box); }
  void frame(gui::Box, gui::Colour, float, float) override {}
  void polygon(std::span<const gui::Point>, gui::Colour) override {}
  void disc(gui::Point, float radius, gui::Colour) override { radii.push_back(radius * unit()); }
  void ring(gui::Point, float, gui::Colour, float) override {}
  void text(gui::Point, std::string_view text, gui::Colour, gui::Anchor, bool) override {
    texts.emplace_back(text);
  }
  float text_width(std::string_view, bool) const override { return 0.0f; }
  float line_height(bool) const override { return 0.0f; }
  void clip(gui::Box) override {}
  void unclip() override {}
};

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

TEST_CASE("LogAxis_ZerosAndInfinities_HavePlacesOfTheirOwn") {
  gui::LogAxis axis;
  for (const double value : {0.0, 1e-6, 1e-2}) axis.include(value);
  axis.include(infinity);
  axis.include(std::nan(""));
  axis.fix();
  CHECK(axis.place(0.0) == 0.0);
  CHECK(axis.place(1e-6) > 0.0);
  CHECK(axis.place(1e-2) == doctest::Approx(1.0));
  CHECK(axis.place(infinity) == 1.0);
  CHECK(std::isnan(axis.place(std::nan(""))));
  const double middle = axis.place(1e-4);
  CHECK(middle - axis.place(1e-6) == doctest::Approx(axis.place(1e-2) - middle));
  CHECK(axis.ticks().front().text == "0");
  gui::LogAxis empty;
  empty.fix();
  CHECK(empty.ticks().size() > 1);
}

TEST_CASE("LinearAxis_TakesRoundSteps") {
  CHECK(gui::linear_axis(97.0).step == 20.0);
  CHECK(gui::linear_axis(97.0).high == 100.0);
  CHECK(gui::linear_axis(1.2e9, 4).step == doctest::Approx(5e8));
  CHECK(gui::linear_axis(0.0).high == 1.0);
  CHECK(gui::linear_axis(infinity).high == 1.0);
}

TEST_CASE("DriftSeries_TellWhereAnErrorIsBornAndWhatIsInherited") {
  const auto snapshot = drifting();
  const auto series = gui::drift_of(snapshot, gui::DriftMeasure::absolute).series;
  REQUIRE(series.size() == 1);
  CHECK(series[0].total == std::vector<double>{0.0, 0.5, 2.0});
  CHECK(gui::born_at(series[0]) == 1);
  CHECK(gui::inherited_error(2.0, 0.125) == 1.875);
  CHECK(gui::inherited_error(0.1, 0.5) == 0.0);
  CHECK(gui::inherited_error(infinity, infinity) == 0.0);
  CHECK(std::isnan(gui::inherited_error(std::nan(""), 1.0)));
}

TEST_CASE("Drift_ConstantsAndIndices_AreNoPartOfIt") {
  auto snapshot = drifting();
  snapshot.layers[0].constant = true;
  snapshot.layers[2].dtype = DType::int64;
  const gui::Drift drift = gui::drift_of(snapshot, gui::DriftMeasure::relative);
  CHECK(drift.layers == std::vector<std::size_t>{1});
  REQUIRE(drift.series.size() == 1);
  // {3, 4} and {3, 4.5}: the error is 0.5, the signal 5.
  REQUIRE(drift.series[0].total.size() == 1);
  CHECK(drift.series[0].total[0] == doctest::Approx(0.1));
  snapshot.results.state(0, 1).verdict = Verdict::fault;
  CHECK(gui::drift_of(snapshot, gui::DriftMeasure::relative).layers == std::vector<std::size_t>{0, 1});
}

TEST_CASE("DriftChart_IsDrawnAndFoundAgainUnderTheMouse") {
  const auto snapshot = drifting();
  gui::SvgPainter painter(600, 300, gui::rgb(0xffffff));
  gui::DriftChart chart;
  chart.box = {0, 0, 600, 300};
  chart.last = 3;
  gui::paint_drift(painter, chart, snapshot, gui::drift_of(snapshot, gui::DriftMeasure::absolute),
                   gui::DriftMeasure::absolute, gui::light_theme());
  const gui::Box area = gui::drift_area(painter, chart);
  CHECK(gui::drift_layer_at(painter, chart, {area.left + 7.0f, 100.0f}) == 0);
  CHECK(gui::drift_layer_at(painter, chart, {area.centre().x, 100.0f}) == 1);
  CHECK(gui::drift_layer_at(painter, chart, {area.right - 1.0f, 100.0f}) == 2);
  CHECK(gui::drift_layer_at(painter, chart, {area.left - 5.0f, 100.0f}) == gui::no_place);
  const std::string svg = painter.finish();
  CHECK(count(svg, "<polyline") == 1);  // the whole difference
  CHECK(count(svg, "<circle") == 2);    // two layers' own errors
  CHECK(svg.find("max abs difference") != std::string::npos);
}

TEST_CASE("DriftChart_TenThousandLayers_DrawNoMorePointsThanPixels") {
  gui::Snapshot snapshot;
  snapshot.targets.resize(2);
  snapshot.layers.resize(10'000);
  snapshot.results = LayerResults(10'000, 2);
  for (std::size_t i = 0; i < 10'000; ++i)
    snapshot.results.set(i, 1, compared_metric("max_abs"), 1e-6 * static_cast<double>(1 + i % 17));
  gui::SvgPainter painter(600, 300, gui::rgb(0xffffff));
  gui::DriftChart chart;
  chart.box = {0, 0, 600, 300};
  chart.last = 10'000;
  gui::paint_drift(painter, chart, snapshot, gui::drift_of(snapshot, gui::DriftMeasure::absolute),
                   gui::DriftMeasure::absolute, gui::light_theme());
  CHECK(painter.finish().size() < 60'000);
}

TEST_CASE("Flame_ScopesOfNames_AreNested") {
  const auto snapshot = drifting();
  const gui::Flame flame = gui::flame_of(snapshot, 0, false);
  REQUIRE(flame.spans.size() == 5);  // a (x, y), b (z)
  CHECK(flame.total_ns == 1000);
  CHECK(flame.spans[0].name == "a");
  CHECK(flame.spans[0].end_ns == 400);
  CHECK(flame.spans[0].layer == gui::no_place);
  CHECK(flame.spans[1].name == "x");
  CHECK(flame.spans[1].layer == 0);
  CHECK(flame.spans[3].name == "b");
  CHECK(flame.spans[3].begin_ns == 400);
  CHECK(gui::flame_of(snapshot, 0, true).total_ns == 2000);
  const gui::SvgPainter painter(10, 10, gui::rgb(0xffffff));
  const gui::FlameView view{{0, 0, 1000, 200}, 0, 1000, gui::no_place};
  const gui::FlameSpan* span =
      gui::flame_at(painter, view, flame, {450.0f, gui::flame_level_height(painter) * 1.5f});
  REQUIRE(span != nullptr);
  CHECK(span->name == "z");
}

TEST_CASE("TimeRow_HasABarForEachTarget_AndRatiosToTheFirst") {
  const auto snapshot = drifting();
  CHECK(gui::longest_layer_ns(snapshot, false) == 600);
  CHECK(gui::longest_layer_ns(snapshot, true) == 1200);
  DensePainter painter;
  gui::paint_time_row(painter, {0, 0, 608, 46}, snapshot, 0, 600, false, gui::light_theme());
  REQUIRE(painter.boxes.size() == 2);
  CHECK(painter.boxes[0].width() == doctest::Approx(100.0));
  CHECK(painter.boxes[1].width() == doctest::Approx(200.0));
  CHECK(painter.boxes[0].bottom <= painter.boxes[1].top);
  REQUIRE(painter.texts.size() == 2);
  CHECK(painter.texts[0] == "0.10 µs");
  CHECK(painter.texts[1] == "0.20 µs  " + gui::ratio_text(2.0));
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

TEST_CASE("MemorySeries_AreApartByKindAndInOrderOfTime") {
  auto snapshot = drifting();
  snapshot.targets[1].about.memory = {{20.0, 5, "wasm_heap"},
                                      {10.0, 3, "wasm_heap"},
                                      {0.0, 99, "process_tree_pss"},
                                      {infinity, 7, "wasm_heap"}};
  const auto series = gui::memory_series(snapshot);
  REQUIRE(series.size() == 2);
  CHECK(series[0].samples.size() == 2);
  CHECK(series[0].samples[0].bytes == 3);
  CHECK(gui::memory_kind_text("process_tree_pss") == "all processes");
  gui::SvgPainter painter(600, 300, gui::rgb(0xffffff));
  gui::paint_memory(painter, {0, 0, 600, 300}, series, gui::light_theme());
  CHECK(painter.finish().find("wasm heap") != std::string::npos);  // with two kinds the name is shown
}

TEST_CASE("Theme_EveryMeaningfulColour_StandsOutFromThePanel") {
  for (const gui::Theme& theme : {gui::light_theme(), gui::dark_theme()}) {
    CHECK(gui::contrast(theme.ink, theme.panel) > 12.0);
    CHECK(gui::contrast(theme.dim, theme.panel) > 4.5);
    CHECK(gui::contrast(theme.on_accent, theme.accent) > 4.5);
    for (const auto& [verdict, name, mark, severity, concern] : verdict_rows)
      CHECK(gui::contrast(theme.verdict(verdict), theme.panel) > 3.0);
    for (std::size_t target = 0; target < 8; ++target)
      CHECK(gui::contrast(theme.series(target), theme.panel) > 3.0);
  }
}

// The ratios that WCAG 2 and its tools give.
TEST_CASE("Contrast_IsThatOfTheGuidelines") {
  const gui::Colour white = gui::rgb(0xffffff);
  CHECK(gui::contrast(gui::rgb(0x000000), white) == doctest::Approx(21.0));
  CHECK(gui::contrast(white, gui::rgb(0x767676)) == doctest::Approx(4.54).epsilon(0.002));
  CHECK(gui::contrast(gui::rgb(0x0a0a0a), white) ==
        doctest::Approx(19.80).epsilon(0.001));  // the linear part
  CHECK(gui::contrast(gui::rgb(0xff0000), white) == doctest::Approx(4.0).epsilon(0.002));
}

TEST_CASE("VerdictMarks_AreOtherShapesForEachVerdict") {
  std::vector<std::string> drawn;
  for (const auto& [verdict, name, mark, severity, concern] : verdict_rows) {
    gui::SvgPainter painter(20, 20, gui::rgb(0xffffff));
    gui::paint_verdict(painter, {10, 10}, 12, verdict, gui::light_theme());
    std::string svg = painter.finish();
    // Without colour.
    for (std::size_t at = svg.find('#'); at != std::string::npos; at = svg.find('#', at + 1))
      svg.replace(at, 7, "#------");
    for (const std::string& other : drawn) CHECK(svg != other);
    drawn.push_back(svg);
  }
}

TEST_CASE("Marks_AreNoLargerThanAskedOnADenseDisplay") {
  DensePainter painter;
  gui::paint_marker(painter, {100, 100}, 36, 0, gui::rgb(0x000000));
  REQUIRE(painter.radii.size() == 1);
  CHECK(painter.radii.front() == 18.0f);
  gui::paint_verdict(painter, {100, 100}, 36, Verdict::identical, gui::light_theme());
  for (const float width : painter.widths) CHECK(width < 7.0f);
  CHECK(painter.widths.size() == 2);
}

TEST_CASE("SvgPainter_NamesFromModels_CannotBreakTheFile") {
  gui::SvgPainter painter(100, 100, gui::rgb(0xffffff));
  painter.clip({0, 0, 10, 10});
  painter.text({0, 0}, "<script>&\x01\xff", gui::rgb(0xffffff), gui::Anchor::start, false);
  const std::string svg = painter.finish();
  CHECK(svg.find("<script") == std::string::npos);
  CHECK(svg.find('\x01') == std::string::npos);
  CHECK(svg.find('\xff') == std::string::npos);
  CHECK(count(svg, "<g ") == count(svg, "</g>"));
}

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

}  // namespace driftscope::test::charts_test
