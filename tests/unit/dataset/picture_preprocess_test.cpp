// Options of a picture description beyond stored samples: order, layout, type, size.
#include <doctest/doctest.h>

#include "core/base/half.hpp"
#include "core/dataset/preprocess.hpp"
#include "core/dataset/resize.hpp"
#include "tests/unit/support/text.hpp"

namespace driftscope::test::picture_preprocess_test {
namespace {

std::string description(const std::string& more) {
  return R"({"format":"driftscope-preprocess-1","input":"x","layout":"NCHW","channels":3,"height":1,)"
         R"("width":2,"channel_order":"RGB","scale":1,"mean":[0,0,0],"std":[1,1,1])" +
         more + "}";
}

Preprocess parsed(const std::string& more) {
  auto how = parse_preprocess(description(more));
  REQUIRE_MESSAGE(how.ok(), how.error().message);
  return *std::move(how);
}

std::string failure(const std::string& more) {
  const auto how = parse_preprocess(description(more));
  REQUIRE_MESSAGE(!how.ok(), "the description was accepted");
  return how.error().message;
}

/// Two pixels: (1, 2, 3) and (4, 5, 6).
const Picture two{.channels = 3, .height = 1, .width = 2, .pixels = {1, 2, 3, 4, 5, 6}};

std::vector<float> values(const Preprocess& how, const Picture& picture = two) {
  const auto tensor = preprocess(how, picture);
  REQUIRE_MESSAGE(tensor.ok(), tensor.error().message);
  const auto floats = tensor->values<float>();
  return {floats.begin(), floats.end()};
}

using Floats = std::vector<float>;

}  // namespace

TEST_CASE("PreprocessPicture_OrderAndLayout") {
  CHECK(values(parsed("")) == Floats{1, 4, 2, 5, 3, 6});
  CHECK(values(parsed(R"(,"channel_order":"BGR")")) == Floats{3, 6, 2, 5, 1, 4});
  CHECK(values(parsed(R"(,"layout":"NHWC")")) == Floats{1, 2, 3, 4, 5, 6});
  const Preprocess both = parsed(R"(,"layout":"NHWC","channel_order":"BGR","mean":[3,2,1],"std":[1,1,2])");
  CHECK(values(both) == Floats{0, 0, 0, 3, 3, 1.5f});
  CHECK(preprocess(both, two)->shape() == Shape{1, 1, 2, 3});
  // Planar samples, such as CIFAR-10's, give the same result.
  const std::vector<std::byte> planes{std::byte{1}, std::byte{4}, std::byte{2},
                                      std::byte{5}, std::byte{3}, std::byte{6}};
  const auto stored = preprocess(both, planes);
  REQUIRE(stored.ok());
  CHECK(std::ranges::equal(stored->values<float>(), Floats{0, 0, 0, 3, 3, 1.5f}));
}

TEST_CASE("PreprocessPicture_Types") {
  const auto bytes = preprocess(parsed(R"(,"dtype":"uint8")"), two);
  REQUIRE(bytes.ok());
  CHECK(std::ranges::equal(bytes->values<std::uint8_t>(), std::vector<std::uint8_t>{1, 4, 2, 5, 3, 6}));
  const auto halves = preprocess(parsed(R"(,"dtype":"float16","scale":0.1)"), two);
  REQUIRE(halves.ok());
  CHECK(halves->values<std::uint16_t>()[0] == narrow(float16_format, double(0.1f)));
  CHECK(holds(failure(R"(,"dtype":"uint8","scale":2)"), "scale must be 1"));
  CHECK(holds(failure(R"(,"dtype":"uint8","mean":[0,0,1])"), "mean 0"));
  CHECK(holds(failure(R"(,"dtype":"int8")"), "dtype is 'int8', expected float32 or float16 or uint8"));
}

TEST_CASE("PreprocessPicture_ShorterSide_KeepsTheAspectRoundedDown") {
  // 3×5 with the shorter side at 4: 4×6 (20/3 rounded down), cropped to 1×2 around the centre.
  Picture picture{.channels = 3, .height = 3, .width = 5, .pixels = {}};
  for (int i = 0; i < 45; ++i) picture.pixels.push_back(static_cast<std::uint8_t>(5 * i));
  const Preprocess how =
      parsed(R"(,"resize":{"rule":"shorter_side","size":4,"antialias":true},"crop":"center")");
  const Picture expected = crop_center(resize_bilinear(picture, 4, 6, true).value(), 1, 2).value();
  const auto got = values(how, picture);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t c = 0; c < 3; ++c) CHECK(got[c * 2 + i] == float(expected.pixels[i * 3 + c]));
  CHECK(parsed(R"(,"resize":{"rule":"exact"})").resize == ResizeRule::exact);
  CHECK_FALSE(parsed(R"(,"resize":{"rule":"exact"})").antialias);
}

TEST_CASE("PreprocessPicture_Gray_IsRepeatedOnlyWhenTold") {
  const Picture gray{.channels = 1, .height = 1, .width = 2, .pixels = {7, 9}};
  CHECK(values(parsed(R"(,"gray_to_rgb":true)"), gray) == Floats{7, 9, 7, 9, 7, 9});
  const auto rejected = preprocess(parsed(""), gray);
  REQUIRE(!rejected.ok());
  CHECK(holds(rejected.error().message, "gray_to_rgb"));
}

TEST_CASE("ParsePreprocess_WrongResize_IsNamed") {
  CHECK(holds(failure(R"(,"resize":"exact")"), "resize must be an object"));
  CHECK(holds(failure(R"(,"resize":{"rule":"longer_side"})"), "rule is 'longer_side'"));
  CHECK(holds(failure(R"(,"resize":{"rule":"shorter_side"})"), "size is missing"));
  CHECK(holds(failure(R"(,"resize":{"rule":"exact","antialias":1})"), "antialias is neither"));
  CHECK(holds(failure(R"(,"crop":"top")"), "crop is 'top'"));
  CHECK(holds(failure(R"(,"gray_to_rgb":"yes")"), "gray_to_rgb"));
  CHECK(holds(failure(R"(,"height":16384,"width":16384)"), "more than 33554432 pixels"));
}

}  // namespace driftscope::test::picture_preprocess_test
