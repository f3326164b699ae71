// Pictures do not leave their boxes, and larger numbers are farther along.
#include <doctest/doctest.h>

#include "core/draw/distributions.hpp"
#include "core/gui/run_history.hpp"
#include "tests/unit/support/extent_painter.hpp"
#include "tests/unit/support/random_tensor.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::pictures_inside_test {
namespace {

constexpr Box box{40.0f, 30.0f, 640.0f, 330.0f};

void check_inside(const ExtentPainter& painter, Box allowed = box) {
  CAPTURE(painter.reached.left);
  CAPTURE(painter.reached.top);
  CAPTURE(painter.reached.right);
  CAPTURE(painter.reached.bottom);
  CHECK(painter.inside(allowed));
}

}  // namespace

TEST_CASE("PicturesInside_Histogram") {
  Rng rng(4);
  const Tensor left = random_tensor(rng, {500});
  Tensor right = *Tensor::make(DType::float32, {500});
  for (std::size_t i = 0; i < 500; ++i)
    right.mutable_values<float>()[i] =
        left.values<float>()[i] * (1.0f + 1e-7f * static_cast<float>(rng.below(900)));
  constexpr Box low{40.0f, 30.0f, 640.0f, 150.0f};  // its rows fill it
  ExtentPainter painter;
  paint_ulp_histogram(painter, low, ulp_histogram(left, right), light_theme());
  check_inside(painter, low);
}

TEST_CASE("PicturesInside_Trend_SlowerIsHigher") {
  gui::RunTrend trend{.title = "t", .where = "w", .points = {}};
  for (const double ms : {2.0, 9.0, 4.0})
    trend.points.push_back({.build = "abcdef12", .first_seen = "2026-01-01", .median_ns = ms * 1e6});
  ExtentPainter painter;
  gui::paint_trend(painter, box, trend, light_theme());
  check_inside(painter);
  REQUIRE(painter.lines.size() == 1);
  const auto& line = painter.lines[0];
  REQUIRE(line.size() == 3);
  CHECK(line[1].y < line[2].y);
  CHECK(line[2].y < line[0].y);
}

}  // namespace driftscope::test::pictures_inside_test
