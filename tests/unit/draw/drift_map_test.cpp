// The map of distances: what is painted where, and which cell the pointer is on.
#include "core/draw/drift_map.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/draw/svg_painter.hpp"
#include "unit/support/text.hpp"

namespace driftscope::test::drift_map_test {
namespace {

DriftMap small_map() {
  return {.rows = {"conv1", "fc"},
          .columns = {"0", "1", "2"},
          .columns_title = "epoch",
          .values = {{0.0, 1e-7, 1e-6}, {0.0, 1e-3, std::nan("")}},
          .threshold = 1e-3,
          .mark = DriftMapPlace{1, 1}};
}

std::string painted(const DriftMap& map) {
  const Theme theme = light_theme();
  SvgPainter painter(600.0f, drift_map_height(map), theme.ground);
  paint_drift_map(painter, {0.0f, 0.0f, 600.0f, drift_map_height(map)}, map, theme);
  return painter.finish();
}

}  // namespace

TEST_CASE("DriftMap_HasACellForEachValueAndAScaleInDecades") {
  const DriftMap map = small_map();
  const std::string svg = painted(map);
  DriftMap larger = map;
  larger.rows.push_back("more");
  larger.values.push_back({1e-7, 1e-7, 1e-7});
  CHECK(count_of("<rect", painted(larger)) == count_of("<rect", svg) + 3);
  CHECK(holds(svg, ">1e-07<"));
  CHECK(holds(svg, ">0.001<"));
  CHECK(holds(svg, ">conv1<"));
  CHECK_FALSE(holds(svg, ">1e-09<"));
  DriftMap shared = map;
  shared.least = 1e-9;
  CHECK(holds(painted(shared), ">1e-09<"));
  // Equal bits have a colour of their own.
  CHECK(count_of(hex_text(light_theme().raised), svg) >= 2);
}

TEST_CASE("DriftMap_OfNothingOrOfNothingFinite_IsPaintedWithoutFault") {
  CHECK(count_of(">epoch<", painted({})) == 0);
  DriftMap map = small_map();
  map.threshold = 0.0;
  map.values = {{0.0, 0.0, 0.0}, {HUGE_VAL, std::nan(""), 0.0}};
  CHECK(count_of("NaN", painted(map)) == 0);
  CHECK(count_of("nan", painted(map)) == 0);
}

TEST_CASE("DriftMapPlace_IsTheCellUnderThePointer") {
  const DriftMap map = small_map();
  const SvgPainter painter(600.0f, 200.0f, light_theme().ground);
  const Box box = {10.0f, 20.0f, 590.0f, 180.0f};
  CHECK_FALSE(drift_map_place(painter, box, map, {11.0f, 21.0f}));  // a label
  std::vector<DriftMapPlace> seen;
  for (float x = box.left; x < box.right; x += 2.0f)
    if (const auto at = drift_map_place(painter, box, map, {x, box.top + 20.0f}))
      if (seen.empty() || !(seen.back() == *at)) seen.push_back(*at);
  CHECK(seen == std::vector<DriftMapPlace>{{1, 0}, {1, 1}, {1, 2}});
  CHECK_FALSE(drift_map_place(painter, box, {}, {100.0f, 30.0f}));
}

}  // namespace driftscope::test::drift_map_test
