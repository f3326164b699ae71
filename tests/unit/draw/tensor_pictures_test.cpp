// Tensors as pictures: planes, colours, histograms, files.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/dataset/picture.hpp"
#include "core/draw/bmp.hpp"
#include "core/draw/colour_map.hpp"
#include "core/draw/distributions.hpp"
#include "core/draw/heat_map.hpp"
#include "core/draw/picture_png.hpp"
#include "core/draw/png.hpp"
#include "core/draw/sample_picture.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/draw/tensor_slice.hpp"
#include "tests/unit/gui/snapshot_builder.hpp"

namespace driftscope::test::tensor_pictures_test {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

std::string decoded_base64(const std::string& text) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<std::uint32_t>(letters.find(c));
    count += 6;
    if (count >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 255);
  }
  return bytes;
}

}  // namespace

TEST_CASE("PlaneLayout_Nchw_ShowsTheChosenPlane") {
  PlaneLayout layout({2, 3, 4, 5});
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
  PlaneLayout layout({1, 7, 3, 4});
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
  PlaneLayout row({1, 1000});
  CHECK(row.height() > 1);
  std::vector<int> seen(1000, 0);
  for (std::int64_t y = 0; y < row.height(); ++y)
    for (std::int64_t x = 0; x < row.width(); ++x)
      if (row.element(x, y) >= 0) ++seen[static_cast<std::size_t>(row.element(x, y))];
  CHECK(seen == std::vector<int>(1000, 1));
  CHECK(PlaneLayout(Shape{}).element(0, 0) == 0);
  CHECK(PlaneLayout({1, 512, 1, 1}).width() > 1);
  const PlaneLayout empty({1, 0, 3, 3});
  CHECK(empty.width() == 0);
  CHECK(empty.height() == 0);
  CHECK(empty.element(0, 0) == -1);
}

TEST_CASE("Elements_OfEveryKind_HaveValueAndBits") {
  const Tensor floats = tensor<float>({2}, {1.0f, -2.5f});
  CHECK(element_value(floats, 1) == -2.5);
  CHECK(element_bits(floats, 0) == "0x3f800000");
  CHECK(std::isnan(element_value(floats, 2)));
  CHECK(element_bits(floats, -1) == "–");
  CHECK(element_value(tensor<std::int64_t>({1}, {-7}), 0) == -7.0);
  auto half = Tensor::make(DType::float16, {1});
  REQUIRE(half.ok());
  half->mutable_values<std::uint16_t>()[0] = 0x3c00;
  CHECK(element_value(*half, 0) == 1.0);
  CHECK(element_bits(*half, 0) == "0x3c00");
}

TEST_CASE("ColourMaps_AreEvenInLightness") {
  double before = lightness(sequential_colour(0.0));
  for (int i = 1; i <= 16; ++i) {
    const double now = lightness(sequential_colour(i / 16.0));
    CHECK(now - before > 2.0);
    CHECK(now - before < 8.0);
    before = now;
  }
  CHECK(std::abs(lightness(diverging_colour(-1.0)) - lightness(diverging_colour(1.0))) < 6.0);
  CHECK(lightness(diverging_colour(0.0)) > 80.0);
  // Who confuses red and green sees blue against yellow, and lightness: the ends must differ in blue.
  CHECK(diverging_colour(-1).b > diverging_colour(-1).r + 60);
  CHECK(diverging_colour(1).r > diverging_colour(1).b + 60);
  CHECK(css_gradient(&sequential_colour, 0.0).starts_with("linear-gradient(90deg,#440154,"));
  CHECK(css_gradient(&diverging_colour, -1.0).ends_with(",#b40426)"));
}

TEST_CASE("HeatMap_NanAndInfinities_HaveColoursOfTheirOwn") {
  const std::vector<double> values = {0.0, 1.0, std::nan(""), HUGE_VAL, -HUGE_VAL, 0.5};
  const PlaneLayout layout({2, 3});
  const ValueRange range = range_of(values);
  CHECK(range.finite == 3);
  CHECK(range.nan == 1);
  CHECK(range.inf == 2);
  const Image image =
      heat_map(cells_of(values, layout, BlockValue::mean), range.low, range.high, ColourMap::sequential);
  REQUIRE(image.pixels.size() == 6);
  CHECK(image.pixels[0] == sequential_colour(0.0));
  CHECK(image.pixels[1] == sequential_colour(1.0));
  CHECK(image.pixels[2] == nan_colour);
  CHECK(image.pixels[3] == positive_infinity_colour);
  CHECK(image.pixels[4] == negative_infinity_colour);
}

TEST_CASE("HeatMap_ConstantOrEmpty_IsDrawn") {
  const std::vector<double> same(6, 3.0);
  const Cells cells = cells_of(same, PlaneLayout({2, 3}), BlockValue::mean);
  const Image image = heat_map(cells, 3.0, 3.0, ColourMap::sequential);
  CHECK(image.pixels[0] == image.pixels[5]);
  const Cells none = cells_of({}, PlaneLayout({0, 3}), BlockValue::furthest);
  CHECK(heat_map(none, 0.0, 0.0, ColourMap::diverging).pixels.empty());
}

TEST_CASE("HeatMap_OverRangesOfEverySize_HasAMiddle") {
  // All doubles; numbers whose range has no finite reciprocal.
  for (const double end : {std::numeric_limits<double>::max(), 1.0, 1e-310}) {
    CAPTURE(end);
    const std::vector<double> values = {-end, 0.0, end};
    const Cells cells = cells_of(values, PlaneLayout({1, 3}), BlockValue::mean);
    for (const ColourMap map : {ColourMap::sequential, ColourMap::diverging}) {
      const Image image = heat_map(cells, -end, end, map);
      const auto colour = [&](double t) {
        return map == ColourMap::diverging ? diverging_colour(2.0 * t - 1.0) : sequential_colour(t);
      };
      CHECK(image.pixels[0] == colour(0.0));
      CHECK(image.pixels[1] == colour(0.5));
      CHECK(image.pixels[2] == colour(1.0));
    }
  }
}

TEST_CASE("Cells_OfLargeDoubles_HaveAFiniteMean") {
  const double largest = std::numeric_limits<double>::max();
  const auto mean = [](const std::vector<double>& values) {
    return cells_of(values, PlaneLayout({1, std::ssize(values)}), BlockValue::mean, 1).values.at(0);
  };
  CHECK(mean({largest, largest, largest}) == largest);
  CHECK(mean({-largest, -largest}) == -largest);
  CHECK(mean({largest, largest, -largest, -largest}) == 0.0);
  CHECK(mean({largest, largest, largest, -largest}) == doctest::Approx(largest / 2.0));
  CHECK(mean({0.5, 1.5, 4.0}) == 2.0);
}

TEST_CASE("Cells_OfBlocks_KeepTheMeanOrTheFurthest") {
  const std::vector<double> values = {1, 3, 0, 0, -9, 1, nan, 0, nan, nan, inf, inf};  // 3 × 4
  const PlaneLayout layout({3, 4});
  const Cells mean = cells_of(values, layout, BlockValue::mean, 2);
  CHECK(mean.block_width == 2);
  CHECK(mean.block_height == 2);
  REQUIRE(mean.values.size() == 4);
  CHECK(mean.values[0] == -1.0);
  CHECK(mean.values[1] == 0.0);
  CHECK(std::isnan(mean.values[2]));  // no finite value
  CHECK(mean.values[3] == inf);
  const Cells furthest = cells_of(values, layout, BlockValue::furthest, 2);
  CHECK(furthest.values[0] == -9.0);
  CHECK(std::isnan(furthest.values[1]));
  const Cells wrapped = cells_of(std::vector<double>(997, 1.0), PlaneLayout({997}), BlockValue::mean);
  CHECK(std::ranges::count(wrapped.gaps, true) == wrapped.width * wrapped.height - 997);
  CHECK(wrapped.gaps.back());
}

// By the headers of Windows' bitmaps, BITMAPFILEHEADER and BITMAPINFOHEADER.
TEST_CASE("BmpDataUri_HoldsThePixels_IndexedOrNot") {
  Image few{3, 2, {}};
  for (std::uint32_t i = 0; i < 6; ++i) few.pixels.push_back(rgb(i * 0x102030));
  few.pixels[5].a = 0;
  Image many{21, 20, {}};
  for (std::uint32_t i = 0; i < 420; ++i) many.pixels.push_back(rgb(i * 0x10305));
  for (const Image& image : {few, many}) {
    const std::string uri = bmp_data_uri(image);
    REQUIRE(uri.starts_with("data:image/bmp;base64,"));
    const std::string file = decoded_base64(uri.substr(uri.find(',') + 1));
    const auto number = [&](std::size_t at, int bytes) {
      std::size_t value = 0;
      for (int i = bytes; i-- > 0;)
        value = value << 8 | static_cast<unsigned char>(file[at + static_cast<std::size_t>(i)]);
      return value;
    };
    CHECK(file.starts_with("BM"));
    CHECK(number(2, 4) == file.size());
    CHECK(number(14, 4) == 40);
    REQUIRE(number(18, 4) == static_cast<std::size_t>(image.width));
    REQUIRE(number(22, 4) == static_cast<std::size_t>(image.height));
    const std::size_t bytes = number(28, 2) / 8;
    CHECK(bytes == (image.width == 3 ? 1 : 3));
    const std::size_t row = (static_cast<std::size_t>(image.width) * bytes + 3) / 4 * 4;
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
      CAPTURE(i);
      const std::size_t x = i % number(18, 4);
      const std::size_t y = number(22, 4) - 1 - i / number(18, 4);  // bottom up
      const std::size_t at = number(10, 4) + y * row + x * bytes;
      const std::size_t value = bytes == 1 ? number(54 + 4 * number(at, 1), 3) : number(at, 3);
      CHECK(rgb(static_cast<std::uint32_t>(value)) ==
            (image.pixels[i].a == 0 ? gap_colour : image.pixels[i]));
    }
  }
  CHECK(bmp_data_uri({}).empty());
}

TEST_CASE("SamplePicture_SpansBlackToWhite") {
  const Image grey = sample_picture(tensor<float>({1, 1, 2, 2}, {-1.0f, 0.0f, 1.0f, nan}));
  REQUIRE(grey.pixels.size() == 4);
  CHECK(grey.pixels[0] == rgb(0x000000));
  CHECK(grey.pixels[1] == rgb(0x808080));
  CHECK(grey.pixels[2] == rgb(0xffffff));
  CHECK(grey.pixels[3] == rgb(0x000000));
  CHECK(sample_picture(tensor<float>({1, 2, 2, 2}, std::vector<float>(8))).pixels.empty());
  CHECK(sample_picture(tensor<float>({2, 2}, {1, 2, 3, 4})).pixels.empty());
}

TEST_CASE("Differences_OfTheSameNanOrInfinity_AreNone") {
  const std::vector<double> left = {1.0, std::nan(""), HUGE_VAL, HUGE_VAL};
  const std::vector<double> right = {1.5, std::nan(""), HUGE_VAL, 1.0};
  const auto difference = differences(left, right);
  CHECK(difference[0] == 0.5);
  CHECK(difference[1] == 0.0);
  CHECK(difference[2] == 0.0);
  CHECK(std::isinf(difference[3]));
  const double largest = std::numeric_limits<double>::max();
  CHECK(difference_of(-largest, largest) == largest);
  CHECK(difference_of(largest, -largest) == -largest);
}

TEST_CASE("UlpHistogram_CountsByPowersOfTwo") {
  const Tensor left = tensor<float>({6}, {1.0f, 1.0f, 1.0f, 0.0f, nan, 1.0f});
  const float next = std::nextafterf(1.0f, 2.0f);
  const Tensor right =
      tensor<float>({6}, {1.0f, next, std::nextafterf(std::nextafterf(next, 2.0f), 2.0f), -0.0f, nan, inf});
  const UlpHistogram histogram = ulp_histogram(left, right);
  CHECK(histogram.elements == 6);
  CHECK(histogram.bins[0] == 3);
  CHECK(histogram.bins[1] == 1);
  CHECK(histogram.bins[2] == 1);
  CHECK(histogram.not_finite == 1);
  CHECK(histogram.last == 2);
  CHECK(ulp_bin_text(0) == "0");
  CHECK(ulp_bin_text(3) == "4–7");
  CHECK(ulp_histogram(left, tensor<float>({1}, {1.0f})).elements == 0);
  const double largest = std::numeric_limits<double>::max();
  CHECK(ulp_histogram(tensor<double>({1}, {-largest}), tensor<double>({1}, {largest})).bins[31] == 1);
}

TEST_CASE("Scatter_EqualTensors_LieOnTheDiagonal") {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(std::sin(i));
  const Scatter scatter = scatter_of(values, values, 16);
  std::int64_t on = 0;
  for (std::int64_t i = 0; i < 16; ++i) on += scatter.bins[static_cast<std::size_t>((15 - i) * 16 + i)];
  CHECK(on == 1000);
  const double largest = std::numeric_limits<double>::max();
  const std::vector<double> wide = {-largest, largest, std::nan("")};
  const Scatter far = scatter_of(wide, wide, 8);
  CHECK(far.left_out == 1);
  CHECK(far.bins[7 * 8] == 1);
  CHECK(far.bins[7] == 1);
  CHECK(scatter_of({}, {}).side == 0);
  SvgPainter painter(500, 300, rgb(0xffffff));
  paint_scatter(painter, {0, 0, 500, 300}, scatter, "pc", "chrome", light_theme());
  CHECK(painter.finish().find("pc across") != std::string::npos);
}

TEST_CASE("PngFile_IsReadBackByTheDecoder") {
  Image image{3, 2, {}};
  for (std::uint32_t i = 0; i < 6; ++i) image.pixels.push_back(rgb(i * 0x102030));
  const auto file = png_file(image);
  const auto picture = decode_picture(file);
  REQUIRE_MESSAGE(picture.ok(), picture.error().message);
  CHECK(picture->width == 3);
  CHECK(picture->pixels[3] == 0x10);
  CHECK(png_file(Image{}).empty());
  for (const std::int64_t channels : {1, 3}) {
    Picture kept{channels, 2, 3, {}};
    for (std::int64_t i = 0; i < 6 * channels; ++i) kept.pixels.push_back(static_cast<std::uint8_t>(13 * i));
    const auto again = decode_picture(png_file(kept));
    REQUIRE_MESSAGE(again.ok(), again.error().message);
    CHECK(again->channels == channels);
    CHECK(again->pixels == kept.pixels);
  }
  CHECK(png_file(Picture{1, 2, 3, {1, 2}}).empty());
}

}  // namespace driftscope::test::tensor_pictures_test
