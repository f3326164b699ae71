// The radar chart, without a screen.
#include "core/draw/radar_chart.hpp"

#include <doctest/doctest.h>

#include "tests/unit/support/dense_painter.hpp"

namespace driftscope::test::radar_chart_test {
namespace {

std::vector<std::string> texts_of(const std::vector<std::string>& axes) {
  DensePainter painter;
  paint_radar(painter, {0.0f, 0.0f, 300.0f, 300.0f}, axes, {{"a", std::vector<double>(axes.size(), 0.5), 0}},
              light_theme());
  return painter.texts;
}

}  // namespace

TEST_CASE("RadarChart_Axes_EachHaveTheirNameOnce_AndRingsTheirShare") {
  CHECK(texts_of({"x", "y", "z", "w"}) ==
        std::vector<std::string>{"x", "y", "z", "w", "25 %", "50 %", "75 %", "100 %"});
}

TEST_CASE("RadarChart_OfTwoAxes_IsNotDrawn") { CHECK(texts_of({"x", "y"}).empty()); }

}  // namespace driftscope::test::radar_chart_test
