#include "core/dataset/picture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "core/base/rng.hpp"
#include "unit/support/files.hpp"
#include "unit/support/seed.hpp"
#include "unit/support/text.hpp"

namespace driftscope::test::picture_test {
namespace {

std::vector<std::byte> file(const std::string& name) {
  return repository_file("tests/data/pictures/" + name);
}

Picture decoded(const std::string& name) {
  auto picture = decode_picture(file(name));
  REQUIRE_MESSAGE(picture.ok(), name << ": " << picture.error().message);
  return *std::move(picture);
}

std::string failure(std::span<const std::byte> bytes) {
  const auto picture = decode_picture(bytes);
  REQUIRE_MESSAGE(!picture.ok(), "the picture was accepted");
  return picture.error().message;
}

int largest_difference(const Picture& a, const Picture& b) {
  REQUIRE(a.pixels.size() == b.pixels.size());
  int largest = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i)
    largest = std::max(largest, std::abs(int{a.pixels[i]} - int{b.pixels[i]}));
  return largest;
}

/// The file with the four bytes at `at` replaced, big-endian.
std::vector<std::byte> patched(std::vector<std::byte> bytes, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::byte>(value >> (24 - 8 * i));
  return bytes;
}

}  // namespace

TEST_CASE("DecodePicture_Png_KeepsThePixels") {
  const Picture colour = decoded("colour.png");
  CHECK(colour.text() == "29x37 RGB");
  // Row 8, column 10 is where the red square begins.
  const std::size_t at = (8 * 37 + 10) * 3;
  CHECK(int{colour.pixels[at]} == 250);
  CHECK(int{colour.pixels[at + 1]} == 20);
  CHECK(int{colour.pixels[at + 2]} == 60);
  CHECK(decoded("gray.png").text() == "29x37 gray");
}

TEST_CASE("DecodePicture_PaletteAndOpaqueAlpha_BecomeRgb") {
  CHECK(decoded("palette.png").pixels == decoded("palette-decoded.png").pixels);
  CHECK(decoded("opaque.png").pixels == decoded("colour.png").pixels);
}

TEST_CASE("DecodePicture_Jpeg_IsWithinALittleOfAnotherDecoder") {
  for (const std::string name : {"baseline", "progressive", "gray"}) {
    CAPTURE(name);
    CHECK(largest_difference(decoded(name + ".jpg"), decoded(name + "-jpg-decoded.png")) <= 4);
  }
  // Colour at half size is enlarged by other formulas.
  CHECK(largest_difference(decoded("subsampled.jpg"), decoded("subsampled-jpg-decoded.png")) <= 24);
}

TEST_CASE("DecodePicture_KindsThatAreNotRead_AreNamed") {
  CHECK(holds(failure(file("gray16.png")), "16 bits per channel"));
  CHECK(holds(failure(file("cmyk.jpg")), "CMYK"));
  CHECK(holds(failure(file("transparent.png")), "row 2, column 3 is transparent"));
  CHECK(holds(failure({}), "neither a PNG nor a JPEG"));
  CHECK(holds(failure(repository_file("README.md")), "neither a PNG nor a JPEG"));
}

TEST_CASE("DecodePicture_HugeClaimedSize_IsRefusedBeforeDecoding") {
  CHECK(holds(failure(patched(file("colour.png"), 16, 0x7fffffff)), "each side may be 1 to 16384"));
  CHECK(holds(failure(patched(file("colour.png"), 20, 0)), "0x37 pixels"));
  const auto wide = patched(file("colour.png"), 16, 16384);
  CHECK(holds(failure(patched(wide, 20, 16384)), "more than 33554432 in all"));
  auto jpeg = file("baseline.jpg");
  const std::array sof{std::byte{0xff}, std::byte{0xc0}};
  const auto found = std::ranges::search(jpeg, sof);
  const auto at = static_cast<std::size_t>(found.begin() - jpeg.begin()) + 5;
  CHECK(holds(failure(patched(jpeg, at, 0xffffffff)), "65535x65535"));
}

TEST_CASE("DecodePicture_HuffmanTableOfTooManyCodes_IsRejected") {
  auto jpeg = file("baseline.jpg");
  const std::array dht{std::byte{0xff}, std::byte{0xc4}};
  const auto found = std::ranges::search(jpeg, dht);
  const auto at = static_cast<std::size_t>(found.begin() - jpeg.begin()) + 5;
  CHECK(holds(failure(patched(jpeg, at, 0xfefefefe)), "codes: it is damaged"));
}

TEST_CASE("DecodePicture_JpegThatEndsInAMarker_IsCutShortWhateverLiesBehindIt") {
  const std::array marker{std::byte{0xff}, std::byte{0xd8}, std::byte{0xff}, std::byte{0xe0},
                          std::byte{0},    std::byte{0},    std::byte{0},    std::byte{0}};
  for (const std::size_t size : {4, 5})
    CHECK(holds(failure(std::span(marker).first(size)), "it ends after " + std::to_string(size) + " bytes"));
}

TEST_CASE("DecodePicture_EveryLengthButTheWhole_IsAnError") {
  for (const std::string name : {"colour.png", "gray.jpg", "progressive.jpg"}) {
    const auto bytes = file(name);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CAPTURE(name);
      CAPTURE(size);
      CHECK_FALSE(decode_picture(std::span(bytes).first(size)).ok());
    }
  }
}

TEST_CASE("DecodePicture_DamagedBytes_NeverDoMoreThanFail") {
  const std::uint64_t seed = test_seed(81);
  SEED_INFO(seed);
  Rng rng(seed);
  for (const std::string name : {"colour.png", "palette.png", "baseline.jpg", "progressive.jpg"}) {
    const auto original = file(name);
    for (int round = 0; round < 300; ++round) {
      auto bytes = original;
      for (std::uint64_t i = 0; i <= rng.below(4); ++i)
        bytes[rng.below(bytes.size())] = static_cast<std::byte>(rng.below(256));
      const auto picture = decode_picture(bytes);
      if (picture.ok())
        CHECK(picture->pixels.size() ==
              static_cast<std::size_t>(picture->channels * picture->height * picture->width));
    }
  }
}

}  // namespace driftscope::test::picture_test
