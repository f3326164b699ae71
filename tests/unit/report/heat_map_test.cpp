#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/report/charts.hpp"
#include "core/report/colour_map.hpp"
#include "core/report/heat_map.hpp"
#include "core/report/picture.hpp"
#include "tests/unit/support/model_builder.hpp"
#include "tests/unit/support/text.hpp"

namespace driftscope::test::heat_map_test {
namespace {

Tensor filled(Shape shape, float value = 0.0f) {
  return tensor<float>(shape, std::vector<float>(static_cast<std::size_t>(element_count(shape)), value));
}

Tensor with(Shape shape, std::size_t at, float value) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  values[at] = value;
  return tensor<float>(std::move(shape), values);
}

/// OKLab lightness of an sRGB colour (Ottosson 2020).
double lightness(const Rgb& colour) {
  const auto linear = [](std::uint8_t c) {
    const double x = c / 255.0;
    return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
  };
  const double r = linear(colour.r), g = linear(colour.g), b = linear(colour.b);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
}

}  // namespace

TEST_CASE("ColourMaps_StepEvenlyInLightness") {
  const Palette& even = sequential_palette();
  const double step = (lightness(even[last_map_entry]) - lightness(even[0])) / last_map_entry;
  CHECK(step * last_map_entry > 0.65);
  for (std::size_t i = 0; i <= last_map_entry; ++i) {
    CAPTURE(i);
    CHECK(lightness(even[i]) ==
          doctest::Approx(lightness(even[0]) + static_cast<double>(i) * step).epsilon(0.015));
  }
  const Palette& signs = diverging_palette();
  for (std::size_t i = 0; i < 126; ++i) {
    CAPTURE(i);
    CHECK(lightness(signs[i]) < lightness(signs[i + 1]) + 0.004);
    CHECK(lightness(signs[i]) == doctest::Approx(lightness(signs[last_map_entry - i])).epsilon(0.02));
  }
  CHECK(lightness(signs[127]) > 0.95);  // the middle
  CHECK(lightness(signs[0]) < 0.5);
}

TEST_CASE("ColourMaps_EndsAreTellable_WithoutRedAndGreen") {
  // A dichromat sees blue against yellow and lightness: the ends must differ in blue.
  CHECK(diverging_colour(-1).b > diverging_colour(-1).r + 60);
  CHECK(diverging_colour(1).r > diverging_colour(1).b + 60);
  const Rgb nearest = diverging_colour(0.0);
  CHECK(std::max({nearest.r, nearest.g, nearest.b}) - std::min({nearest.r, nearest.g, nearest.b}) < 8);
  CHECK(holds(css_gradient(diverging_palette()), "linear-gradient(90deg,#"));
}

TEST_CASE("HeatMap_ShowsTheChannelOfTheLargestDifference") {
  const Shape shape = {2, 3, 4, 5};
  const std::size_t at = ((1 * 3 + 2) * 4 + 3) * 5 + 1;
  const auto map = heat_map(filled(shape), with(shape, at, -2.5f));
  REQUIRE(map);
  CHECK(map->width == 5);
  CHECK(map->height == 4);
  CHECK(map->plane == "channel 2 of 3, sample 1 of 2");
  CHECK(map->worst == std::vector<std::int64_t>{1, 2, 3, 1});
  CHECK(map->worst_right == -2.5);
  CHECK(map->difference[3 * 5 + 1] == -2.5);
  CHECK(map->largest == 2.5);
  CHECK(map->low == -2.5);
}

TEST_CASE("HeatMap_OneWrongElementOfALargePlane_DoesNotVanishInItsBlock") {
  const Shape shape = {1, 1, 500, 300};
  const auto map = heat_map(filled(shape), with(shape, 499 * 300 + 299, 1.0f));
  REQUIRE(map);
  CHECK(map->width <= max_heat_cells);
  CHECK(map->height <= max_heat_cells);
  CHECK(map->difference.back() == 1.0);
  CHECK(map->right.back() < 0.2);  // a mean
  CHECK(values_picture(*map, map->left).size() < 14'000);
}

TEST_CASE("HeatMap_Vectors_AreWrapped") {
  const auto row = heat_map(filled({1, 10}), with({1, 10}, 7, 1));
  REQUIRE(row);
  CHECK(row->height == 1);
  CHECK(row->width == 10);
  const auto wrapped = heat_map(filled({1, 1000}), with({1, 1000}, 999, 1));
  REQUIRE(wrapped);
  CHECK(wrapped->height > 10);
  CHECK(wrapped->filled == 1000);
  CHECK(wrapped->width == 50);                                   // full rows
  CHECK(heat_map(filled({997}), filled({997}))->filled == 997);  // a prime has none
  CHECK(wrapped->width * wrapped->height >= 1000);
  CHECK(holds(wrapped->plane, "in a row"));
  const auto part = heat_map(filled({100'000}), with({100'000}, 99'999, 1));
  REQUIRE(part);
  CHECK(part->worst == std::vector<std::int64_t>{99'999});
  CHECK(holds(part->plane, "to 99999"));
}

TEST_CASE("HeatMap_NaNAndInfinity_AreMarkedAndCounted") {
  const float inf = INFINITY;
  const Tensor left = tensor<float>({2, 3}, {1, NAN, inf, 2, inf, 3});
  const Tensor right = tensor<float>({2, 3}, {1, NAN, inf, NAN, -inf, 4});
  const auto map = heat_map(left, right);
  REQUIRE(map);
  CHECK(map->not_finite == 4);
  CHECK(map->worst == std::vector<std::int64_t>{1, 0});  // a number here, none there
  CHECK(std::isnan(map->difference[3]));
  CHECK(std::isnan(map->difference[4]));
  CHECK(map->difference[1] == 0.0);  // NaN on both sides
  CHECK(map->largest == 1.0);
  CHECK(map->low == 1.0);
  CHECK(map->high == 4.0);
  const auto nothing = heat_map(filled({2, 2}, NAN), filled({2, 2}, NAN));
  REQUIRE(nothing);
  CHECK(nothing->low == 0.0);
  CHECK(!difference_picture(*nothing).empty());
  const float largest = 3.4e38f;
  const auto wide = heat_map(filled({2, 2}, -largest), filled({2, 2}, largest));
  REQUIRE(wide);
  CHECK(std::isfinite(wide->largest));
}

TEST_CASE("HeatMap_WhatCannotBeCompared_HasNone") {
  CHECK(!heat_map(filled({0, 3}), filled({0, 3})));
  CHECK(!heat_map(filled({2, 3}), filled({3, 2})));
  CHECK(!heat_map(filled({2}), tensor<std::int64_t>({2}, {1, 2})));
  CHECK(heat_map(tensor<std::int64_t>({2}, {1, 2}), tensor<std::int64_t>({2}, {1, 3})));
  CHECK(heat_map(filled({}), filled({}, 1.0f)));
}

TEST_CASE("IndexedPicture_IsABitmapOfTheRightSize") {
  const std::vector<std::uint8_t> entries = {0, 1, 2, 3, 4, 5};
  const std::string uri = indexed_data_uri(3, 2, entries, sequential_palette());
  CHECK(uri.starts_with("data:image/bmp;base64,Qk"));  // "BM"
  // 54 bytes of headers, 1024 of colours, two rows padded to 4.
  CHECK(uri.size() == 22 + (54 + 1024 + 8 + 2) / 3 * 4);
}

TEST_CASE("LogChart_OfManyLayers_DrawsTheWorstOfEachGroup") {
  std::vector<std::string> layers(10'000, "n");
  Series series{"t", std::vector<double>(10'000, 1e-6), 0};
  series.values[7'777] = 1e3;
  const std::string svg = log_chart({"T", "u", "c."}, layers, {series});
  CHECK(svg.size() < 20'000);
  CHECK(holds(svg, "Each point is the worst of 42 neighbouring layers."));
  CHECK(holds(svg, "1e2<"));
  CHECK(holds(svg, "at most 1e+03"));
}

TEST_CASE("LogChart_ZerosGapsAndInfinity_HavePlaces") {
  const std::vector<double> values = {0.0, NAN, INFINITY, 1e-3};
  const std::string joined = log_chart({"T", "u", "c."}, {"a", "b", "c", "d"}, {{"t", values, 1}}, 1.0);
  CHECK(!holds(joined, "nan\""));
  CHECK(!holds(joined, "inf\""));
  CHECK(holds(joined, "a: 0"));
  CHECK(holds(joined, "c: inf"));
  CHECK(!holds(joined, "b:"));
  // A zero by itself is not shown.
  const std::string dots = log_chart({"T", "u", "c."}, {"a", "b", "c", "d"}, {{"t", values, 1, false}}, 1.0);
  CHECK(!holds(dots, "a: 0"));
  CHECK(holds(log_chart({"T", "u", "c."}, {}, {}), "svg"));
}

}  // namespace driftscope::test::heat_map_test
