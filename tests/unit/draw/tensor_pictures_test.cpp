// Tensors as pictures: planes, colours, histograms, files.
#include <cmath>
#include <cstring>
#include <limits>

#include "core/dataset/picture.hpp"
#include "core/draw/colour_map.hpp"
#include "core/draw/distributions.hpp"
#include "core/draw/heat_map.hpp"
#include "core/draw/png.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/draw/tensor_slice.hpp"
#include "tests/unit/gui/snapshot_builder.hpp"

namespace driftscope::test::tensor_pictures_test {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("PlaneLayout_Nchw_ShowsTheChosenPlane") {
  gui::PlaneLayout layout({2, 3, 4, 5});
  CHECK(layout.outer() == Shape{2, 3});
  CHECK(layout.axis_name(1) == "channel");
  CHECK(layout.width() == 5);
  CHECK(layout.height() == 4);
  layout.choose({1, 2});
  CHECK(layout.element(1, 2) == ((1 * 3 + 2) * 4 + 2) * 5 + 1);
  CHECK(layout.index_text(layout.element(1, 2)) == "[1,2,2,1]");
  CHECK(layout.element(5, 0) == -1);
  CHECK(layout.element(-1, 0) == -1);
  CHECK(layout.place(layout.element(3, 1)).x == 3);
  CHECK(layout.place(0).x == -1);  // of another plane
  layout.choose({9, -4});
  CHECK(layout.chosen() == std::vector<std::int64_t>{1, 0});
}

TEST_CASE("PlaneLayout_Tiles_HoldEveryElementOnce") {
  gui::PlaneLayout layout({1, 7, 3, 4});
  layout.show_tiles(true);
  std::vector<int> seen(84, 0);
  for (std::int64_t y = 0; y < layout.height(); ++y)
    for (std::int64_t x = 0; x < layout.width(); ++x) {
      const std::int64_t element = layout.element(x, y);
      if (element < 0) continue;
      ++seen[static_cast<std::size_t>(element)];
      CHECK(layout.place(element).x == x);
      CHECK(layout.place(element).y == y);
    }
  CHECK(seen == std::vector<int>(84, 1));
}

TEST_CASE("PlaneLayout_VectorsScalarsAndNothing_HaveAPlaneToo") {
  gui::PlaneLayout row({1, 1000});
  CHECK(row.height() > 1);
  std::vector<int> seen(1000, 0);
  for (std::int64_t y = 0; y < row.height(); ++y)
    for (std::int64_t x = 0; x < row.width(); ++x)
      if (row.element(x, y) >= 0) ++seen[static_cast<std::size_t>(row.element(x, y))];
  CHECK(seen == std::vector<int>(1000, 1));
  CHECK(gui::PlaneLayout(Shape{}).element(0, 0) == 0);
  CHECK(gui::PlaneLayout({1, 512, 1, 1}).width() > 1);
  const gui::PlaneLayout empty({1, 0, 3, 3});
  CHECK(empty.width() == 0);
  CHECK(empty.height() == 0);
  CHECK(empty.element(0, 0) == -1);
}

TEST_CASE("Elements_OfEveryKind_HaveValueAndBits") {
  const Tensor floats = tensor<float>({2}, {1.0f, -2.5f});
  CHECK(gui::element_value(floats, 1) == -2.5);
  CHECK(gui::element_bits(floats, 0) == "0x3f800000");
  CHECK(std::isnan(gui::element_value(floats, 2)));
  CHECK(gui::element_bits(floats, -1) == "–");
  CHECK(gui::element_value(tensor<std::int64_t>({1}, {-7}), 0) == -7.0);
  auto half = Tensor::make(DType::float16, {1});
  REQUIRE(half.ok());
  half->mutable_values<std::uint16_t>()[0] = 0x3c00;
  CHECK(gui::element_value(*half, 0) == 1.0);
  CHECK(gui::element_bits(*half, 0) == "0x3c00");
}

TEST_CASE("ColourMaps_AreEvenInLightness") {
  double before = gui::lightness(gui::sequential_colour(0.0));
  for (int i = 1; i <= 16; ++i) {
    const double now = gui::lightness(gui::sequential_colour(i / 16.0));
    CHECK(now - before > 2.0);
    CHECK(now - before < 8.0);
    before = now;
  }
  CHECK(std::abs(gui::lightness(gui::diverging_colour(-1.0)) - gui::lightness(gui::diverging_colour(1.0))) <
        6.0);
  CHECK(gui::lightness(gui::diverging_colour(0.0)) > 80.0);
}

TEST_CASE("HeatMap_NanAndInfinities_HaveColoursOfTheirOwn") {
  const std::vector<double> values = {0.0, 1.0, std::nan(""), HUGE_VAL, -HUGE_VAL, 0.5};
  const gui::PlaneLayout layout({2, 3});
  const gui::ValueRange range = gui::range_of(values);
  CHECK(range.finite == 3);
  CHECK(range.nan == 1);
  CHECK(range.inf == 2);
  const gui::Image image = gui::heat_map(values, layout, range.low, range.high, gui::ColourMap::sequential);
  REQUIRE(image.pixels.size() == 6);
  CHECK(image.pixels[0] == gui::sequential_colour(0.0));
  CHECK(image.pixels[1] == gui::sequential_colour(1.0));
  CHECK(image.pixels[2] == gui::nan_colour);
  CHECK(image.pixels[3] == gui::positive_infinity_colour);
  CHECK(image.pixels[4] == gui::negative_infinity_colour);
}

TEST_CASE("HeatMap_ConstantEmptyAndHuge_AreDrawn") {
  const std::vector<double> same(6, 3.0);
  const gui::Image image =
      gui::heat_map(same, gui::PlaneLayout({2, 3}), 3.0, 3.0, gui::ColourMap::sequential);
  CHECK(image.pixels[0] == image.pixels[5]);
  CHECK(gui::heat_map({}, gui::PlaneLayout({0, 3}), 0.0, 0.0, gui::ColourMap::diverging).pixels.empty());
  const std::vector<double> large(100 * 100, 1.0);
  const gui::Image thinned =
      gui::heat_map(large, gui::PlaneLayout({100, 100}), 0.0, 1.0, gui::ColourMap::sequential, 400);
  CHECK(thinned.width == 20);
  CHECK(thinned.pixels.size() == 400);
}

TEST_CASE("Differences_OfTheSameNanOrInfinity_AreNone") {
  const std::vector<double> left = {1.0, std::nan(""), HUGE_VAL, HUGE_VAL};
  const std::vector<double> right = {1.5, std::nan(""), HUGE_VAL, 1.0};
  const auto difference = gui::differences(left, right);
  CHECK(difference[0] == 0.5);
  CHECK(difference[1] == 0.0);
  CHECK(difference[2] == 0.0);
  CHECK(std::isinf(difference[3]));
}

TEST_CASE("UlpHistogram_CountsByPowersOfTwo") {
  const Tensor left = tensor<float>({6}, {1.0f, 1.0f, 1.0f, 0.0f, nan, 1.0f});
  const float next = std::nextafterf(1.0f, 2.0f);
  const Tensor right =
      tensor<float>({6}, {1.0f, next, std::nextafterf(std::nextafterf(next, 2.0f), 2.0f), -0.0f, nan, inf});
  const gui::UlpHistogram histogram = gui::ulp_histogram(left, right);
  CHECK(histogram.elements == 6);
  CHECK(histogram.bins[0] == 3);
  CHECK(histogram.bins[1] == 1);
  CHECK(histogram.bins[2] == 1);
  CHECK(histogram.not_finite == 1);
  CHECK(histogram.last == 2);
  CHECK(gui::ulp_bin_text(0) == "0");
  CHECK(gui::ulp_bin_text(3) == "4–7");
  CHECK(gui::ulp_histogram(left, tensor<float>({1}, {1.0f})).elements == 0);
  const double largest = std::numeric_limits<double>::max();
  CHECK(gui::ulp_histogram(tensor<double>({1}, {-largest}), tensor<double>({1}, {largest})).bins[31] == 1);
}

TEST_CASE("Scatter_EqualTensors_LieOnTheDiagonal") {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(std::sin(i));
  const gui::Scatter scatter = gui::scatter_of(values, values, 16);
  std::int64_t on = 0;
  for (std::int64_t i = 0; i < 16; ++i) on += scatter.bins[static_cast<std::size_t>((15 - i) * 16 + i)];
  CHECK(on == 1000);
  const double largest = std::numeric_limits<double>::max();
  const std::vector<double> wide = {-largest, largest, std::nan("")};
  const gui::Scatter far = gui::scatter_of(wide, wide, 8);
  CHECK(far.left_out == 1);
  CHECK(far.bins[7 * 8] == 1);
  CHECK(far.bins[7] == 1);
  CHECK(gui::scatter_of({}, {}).side == 0);
  gui::SvgPainter painter(500, 300, gui::rgb(0xffffff));
  gui::paint_scatter(painter, {0, 0, 500, 300}, scatter, "pc", "chrome", gui::light_theme());
  CHECK(painter.finish().find("pc across") != std::string::npos);
}

TEST_CASE("PngFile_IsReadBackByTheDecoder") {
  gui::Image image{3, 2, {}};
  for (std::uint32_t i = 0; i < 6; ++i) image.pixels.push_back(gui::rgb(i * 0x102030));
  const auto file = gui::png_file(image);
  const auto picture = decode_picture(file);
  REQUIRE_MESSAGE(picture.ok(), picture.error().message);
  CHECK(picture->width == 3);
  CHECK(picture->pixels[3] == 0x10);
  CHECK(gui::png_file({}).empty());
}

}  // namespace driftscope::test::tensor_pictures_test
