// Filter and sort of the layer table, its export, and the selection.
#include "core/gui/layer_order.hpp"

#include <limits>

#include "core/gui/selection.hpp"
#include "tests/unit/gui/snapshot_builder.hpp"

namespace driftscope::test::layer_order_test {
namespace {

using Rows = std::vector<std::uint32_t>;

constexpr Metric max_abs = compared_metric("max_abs");
constexpr Metric cosine = compared_metric("cosine");

gui::Snapshot three_layers() {
  return snapshot_of({run_of("pc/strict", {{"conv_b", "Conv", "a", {1, 2}, 300},
                                           {"relu", "Relu", "b", {3, 4}, 100},
                                           {"conv_a", "Conv", "c", {5, 6}, 200}}),
                      run_of("chrome/strict", {{"conv_b", "Conv", "a", {1, 2.5f}, 30},
                                               {"relu", "Relu", "b", {3, 4}, 10},
                                               {"conv_a", "Conv", "c", {5, 9}, 20}})});
}

}  // namespace

TEST_CASE("OrderedLayers_FilterWords_MustAllBeThere") {
  const auto snapshot = three_layers();
  CHECK(gui::ordered_layers(snapshot, {""}, {}) == Rows{0, 1, 2});
  CHECK(gui::ordered_layers(snapshot, {"CONV"}, {}) == Rows{0, 2});
  CHECK(gui::ordered_layers(snapshot, {"conv _a"}, {}) == Rows{2});
  CHECK(gui::ordered_layers(snapshot, {"op:relu"}, {}) == Rows{1});
  CHECK(gui::ordered_layers(snapshot, {"is:different"}, {}) == Rows{0, 2});
  CHECK(gui::ordered_layers(snapshot, {"is:identical op:conv"}, {}).empty());
  CHECK(gui::ordered_layers(snapshot, {"nothing"}, {}).empty());
}

TEST_CASE("OrderedLayers_Sorted_ByTextAndByMetricBothWays") {
  const auto snapshot = three_layers();
  CHECK(gui::ordered_layers(snapshot, {}, {gui::SortBy::node, 0, {}, false}) == Rows{2, 0, 1});
  CHECK(gui::ordered_layers(snapshot, {}, {gui::SortBy::place, 0, {}, true}) == Rows{2, 1, 0});
  CHECK(gui::ordered_layers(snapshot, {}, {gui::SortBy::metric, 1, max_abs, true}) == Rows{2, 0, 1});
  CHECK(gui::ordered_layers(snapshot, {}, {gui::SortBy::metric, 0, timed_metric("time"), false}) ==
        Rows{1, 2, 0});
}

TEST_CASE("OrderedLayers_UnknownValues_GoLastWhicheverWay") {
  auto snapshot = three_layers();
  snapshot.results.set(0, 1, max_abs, not_measured);
  CHECK(gui::ordered_layers(snapshot, {}, {gui::SortBy::metric, 1, max_abs, true}) == Rows{2, 1, 0});
  CHECK(gui::ordered_layers(snapshot, {}, {gui::SortBy::metric, 1, max_abs, false}) == Rows{1, 2, 0});
}

TEST_CASE("OrderedLayers_TenThousandLayersOfSixTargets_AreSorted") {
  gui::Snapshot snapshot;
  snapshot.targets.resize(6);
  snapshot.layers.resize(10'000);
  snapshot.results = LayerResults(10'000, 6);
  for (std::size_t i = 0; i < 10'000; ++i)
    snapshot.results.set(i, 5, max_abs, static_cast<double>((i * 7919) % 10'000));
  const Rows rows = gui::ordered_layers(snapshot, {}, {gui::SortBy::metric, 5, max_abs, false});
  REQUIRE(rows.size() == 10'000);
  for (std::size_t i = 1; i < rows.size(); ++i)
    REQUIRE(snapshot.cell(rows[i - 1], 5)[max_abs] <= snapshot.cell(rows[i], 5)[max_abs]);
}

TEST_CASE("MetricText_HasUnitsAndSaysWhatIsUnknown") {
  LayerResults results(1, 1);
  CHECK(gui::metric_text(results.cell(0, 0), max_abs) == "–");
  CHECK(gui::metric_text(results.cell(0, 0), compared_metric("different_elements")) == "–");
  results.set_times(0, 0, {1500, 0});
  results.set(0, 0, cosine, 0.99999999);
  CHECK(gui::metric_text(results.cell(0, 0), timed_metric("time")) == "1.50 µs");
  CHECK(gui::metric_text(results.cell(0, 0), cosine) == "1 − 1.0e-08");
}

TEST_CASE("LayerTable_AsCsv_QuotesAndDisarms") {
  auto snapshot = three_layers();
  snapshot.layers[0].node = "=cmd,\"x\"";
  snapshot.results.set(0, 1, max_abs, 0.1);
  const std::string csv = gui::csv_text(gui::layer_table(snapshot, {0}));
  CHECK(csv.find("\r\n\"'=cmd,\"\"x\"\"\",0,Conv,a,1x2,8,") != std::string::npos);
  CHECK(csv.find(",0.1,") != std::string::npos);
  CHECK(gui::csv_line(std::vector<std::string>{"-1.5", "-1+1"}) == "-1.5,'-1+1\r\n");
  CHECK(gui::plain_text({{"a", "b"}, {"x", "12"}}).find("x  12") != std::string::npos);
}

TEST_CASE("LayerTable_MetricsThatNobodyComputed_HaveNoColumn") {
  auto snapshot = three_layers();
  const auto titles = [&] { return gui::layer_table(snapshot, {}).front(); };
  const auto has = [&](const std::string& title) { return std::ranges::count(titles(), title) == 1; };
  CHECK_FALSE(has(snapshot.targets[0].target + " sensitivity"));
  CHECK(has(snapshot.targets[0].target + " budget used"));
  CHECK(gui::metrics_in(snapshot).size() == shown_metrics.size() - 4);
  snapshot.results.set(1, 0, verified_metric("sensitivity"), 0.25);
  CHECK(has(snapshot.targets[0].target + " sensitivity"));
  CHECK_FALSE(has(snapshot.targets[0].target + " can move"));
}

TEST_CASE("SelectionHistory_UndoRedo_AndANewChoiceDropsWhatWasUndone") {
  gui::SelectionHistory history;
  CHECK_FALSE(history.can_undo());
  history.select_layer(3);
  history.select_layer(3);
  history.select_target(2);
  CHECK(history.current() == gui::Selection{3, 2});
  history.undo();
  CHECK(history.current() == gui::Selection{3, 1});
  history.undo();
  CHECK(history.current().layer == no_place);
  CHECK_FALSE(history.can_undo());
  history.redo();
  CHECK(history.current().layer == 3);
  history.select_layer(5);
  CHECK_FALSE(history.can_redo());
  for (std::size_t i = 0; i < 3000; ++i) history.select_layer(i);
  CHECK(history.current().layer == 2999);
  history.undo();
  CHECK(history.current().layer == 2998);
}

}  // namespace driftscope::test::layer_order_test
