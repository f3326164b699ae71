#include "core/dataset/resize.hpp"

#include <doctest/doctest.h>

#include "unit/support/files.hpp"

namespace driftscope::test::resize_test {
namespace {

Picture decoded(const std::string& name) {
  auto picture = decode_picture(repository_file("tests/data/pictures/" + name));
  REQUIRE_MESSAGE(picture.ok(), name << ": " << picture.error().message);
  return *std::move(picture);
}

Picture resized(const Picture& picture, std::int64_t height, std::int64_t width, bool antialias) {
  auto result = resize_bilinear(picture, height, width, antialias);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  CHECK(result->height == height);
  CHECK(result->width == width);
  CHECK(result->pixels.size() == static_cast<std::size_t>(height * width * picture.channels));
  return *std::move(result);
}

Picture row(std::vector<std::uint8_t> pixels) {
  return {.channels = 1,
          .height = 1,
          .width = static_cast<std::int64_t>(pixels.size()),
          .pixels = std::move(pixels)};
}

using Bytes = std::vector<std::uint8_t>;

}  // namespace

TEST_CASE("ResizeBilinear_Antialias_HasPillowsPixels") {
  const Picture colour = decoded("colour.png");
  CHECK(resized(colour, 13, 17, true).pixels == decoded("colour-13x17.png").pixels);
  CHECK(resized(colour, 50, 61, true).pixels == decoded("colour-50x61.png").pixels);
  CHECK(resized(colour, 11, 37, true).pixels == decoded("colour-11x37.png").pixels);
  CHECK(resized(colour, 29, 8, true).pixels == decoded("colour-29x8.png").pixels);
  CHECK(resized(decoded("gray.png"), 40, 5, true).pixels == decoded("gray-40x5.png").pixels);
}

TEST_CASE("ResizeBilinear_NoAntialias_ReadsTwoNeighbours") {
  // Centres at 1 and 3: halfway between the pixels 0 and 1, and 2 and 3.
  CHECK(resized(row({10, 20, 40, 81}), 1, 2, false).pixels == Bytes{15, 61});
  // Centre at 2.5 is pixel 2 itself.
  CHECK(resized(row({10, 20, 40, 81, 255}), 1, 1, false).pixels == Bytes{40});
  // With antialias all five, with weights 0.6, 0.8, 1, 0.8, 0.6 of 3.8: 73.6.
  CHECK(resized(row({10, 20, 40, 81, 255}), 1, 1, true).pixels == Bytes{74});
}

TEST_CASE("ResizeBilinear_Enlarging_TakesTheEdgeBeyondTheEdge") {
  // Centres at 0.25, 0.75, 1.25, 1.75 of two pixels.
  for (const bool antialias : {false, true})
    CHECK(resized(row({0, 100}), 1, 4, antialias).pixels == Bytes{0, 25, 75, 100});
}

TEST_CASE("ResizeBilinear_SameSize_ChangesNothing_OneColourStays") {
  const Picture colour = decoded("colour.png");
  for (const bool antialias : {false, true}) {
    CHECK(resized(colour, 29, 37, antialias).pixels == colour.pixels);
    const Picture flat{.channels = 3, .height = 7, .width = 5, .pixels = Bytes(105, 255)};
    CHECK(resized(flat, 3, 11, antialias).pixels == Bytes(99, 255));
  }
}

TEST_CASE("ResizeBilinear_TooLarge_IsALimitError") {
  const Picture flat{.channels = 1, .height = 1, .width = 1, .pixels = {1}};
  for (const auto& [height, width] :
       {std::pair{std::int64_t{16385}, std::int64_t{1}}, {1, 0}, {16384, 16384}}) {
    const auto result = resize_bilinear(flat, height, width, true);
    REQUIRE(!result.ok());
    CHECK(result.error().kind == ErrorKind::limit);
  }
}

TEST_CASE("CropCenter_OddRoom_RoundsToEven") {
  const auto cropped = [](std::int64_t width) {
    return crop_center(row({0, 1, 2, 3, 4, 5, 6, 7}), 1, width).value().pixels;
  };
  CHECK(cropped(8) == Bytes{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(cropped(7) == Bytes{0, 1, 2, 3, 4, 5, 6});  // room 1: 0.5 goes to 0
  CHECK(cropped(6) == Bytes{1, 2, 3, 4, 5, 6});
  CHECK(cropped(5) == Bytes{2, 3, 4, 5, 6});  // room 3: 1.5 goes to 2
  CHECK(cropped(3) == Bytes{2, 3, 4});        // room 5: 2.5 goes to 2
  CHECK_FALSE(crop_center(row({1, 2}), 1, 3).ok());
  CHECK_FALSE(crop_center(row({1, 2}), 2, 2).ok());
}

}  // namespace driftscope::test::resize_test
