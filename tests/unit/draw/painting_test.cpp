// Axes, marks and painters, without a screen.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/draw/axis.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/draw/verdict_mark.hpp"
#include "tests/unit/support/dense_painter.hpp"
#include "tests/unit/support/text.hpp"

namespace driftscope::test::painting_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("LogAxis_ZerosAndInfinities_HavePlacesOfTheirOwn") {
  LogAxis axis;
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
  LogAxis empty;
  empty.fix();
  CHECK(empty.ticks().size() > 1);
}

TEST_CASE("LinearAxis_TakesRoundSteps") {
  CHECK(linear_axis(97.0).step == 20.0);
  CHECK(linear_axis(97.0).high == 100.0);
  CHECK(linear_axis(1.2e9, 4).step == doctest::Approx(5e8));
  CHECK(linear_axis(0.0).high == 1.0);
  CHECK(linear_axis(infinity).high == 1.0);
}

TEST_CASE("VerdictMarks_AreOtherShapesForEachVerdict") {
  std::vector<std::string> drawn;
  for (const auto& [verdict, name, mark, severity, concern] : verdict_rows) {
    SvgPainter painter(20, 20, rgb(0xffffff));
    paint_verdict(painter, {10, 10}, 12, verdict, light_theme());
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
  paint_marker(painter, {100, 100}, 36, 0, rgb(0x000000));
  REQUIRE(painter.radii.size() == 1);
  CHECK(painter.radii.front() == 18.0f);
  paint_verdict(painter, {100, 100}, 36, Verdict::identical, light_theme());
  for (const float width : painter.widths) CHECK(width < 7.0f);
  CHECK(painter.widths.size() == 2);
}

TEST_CASE("SvgPainter_NamesFromModels_CannotBreakTheFile") {
  SvgPainter painter(100, 100, rgb(0xffffff));
  painter.clip({0, 0, 10, 10});
  painter.text({0, 0}, "<script>&\x01\xff", rgb(0xffffff), Anchor::start, false);
  const std::string svg = painter.finish();
  CHECK(svg.find("<script") == std::string::npos);
  CHECK(svg.find('\x01') == std::string::npos);
  CHECK(svg.find('\xff') == std::string::npos);
  CHECK(count_of("<g ", svg) == count_of("</g>", svg));
}

TEST_CASE("SvgPainter_PartOfAPage_FollowsItsColoursAndNamesGroups") {
  SvgPainter painter({100.0f, 50.0f, "class=\"chart\""});
  painter.open_group([] { return std::string("a & b"); });
  painter.disc({1, 2}, 3, light_theme().series(1));
  painter.close_group();
  painter.disc({1, 2}, 3, with_alpha(light_theme().ink, 0.5f));
  const std::string svg = painter.finish();
  CHECK(svg.starts_with("<svg viewBox=\"0 0 100 50\" class=\"chart\">"));
  CHECK(holds(svg, "<g><title>a &amp; b</title><circle"));
  CHECK(holds(svg, "fill=\"var(--s1)\"/>\n</g>"));
  CHECK(holds(svg, "fill=\"var(--ink)\" fill-opacity=\"0.5"));
  CHECK(!holds(svg, "http"));
}

TEST_CASE("Markers_OfNeighbouringTargets_HaveOtherShapes") {
  std::vector<std::string> drawn;
  for (std::size_t target = 0; target < 6; ++target) {
    SvgPainter painter(20, 20, rgb(0xffffff));
    paint_marker(painter, {10, 10}, 12, target, rgb(0x000000));
    const std::string svg = painter.finish();
    for (const std::string& other : drawn) CHECK(svg != other);
    drawn.push_back(svg);
  }
}

}  // namespace driftscope::test::painting_test
