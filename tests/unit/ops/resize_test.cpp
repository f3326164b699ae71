// Resize and Upsample beyond the ONNX cases of opset 11 to 13: later attributes, ties, bad input.
// Expected numbers of antialias, axes and policies are those of the ONNX specification's examples.
#include <doctest/doctest.h>

#include <cmath>

#include "unit/ops/one_node.hpp"

namespace driftscope::test::resize_test {
namespace {

Tensor ramp(Shape shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
  return floats(std::move(shape), values);
}

OneNode by_scales(Tensor x, const std::vector<float>& scales, std::vector<Attribute> attributes,
                  std::int64_t opset = 19) {
  return {"Resize",
          {std::move(x), std::nullopt, floats({static_cast<std::int64_t>(scales.size())}, scales)},
          std::move(attributes),
          opset};
}
OneNode by_sizes(Tensor x, const std::vector<std::int64_t>& sizes, std::vector<Attribute> attributes,
                 std::int64_t opset = 19) {
  return {"Resize", {std::move(x), std::nullopt, std::nullopt, longs(sizes)}, std::move(attributes), opset};
}

void close(const std::vector<Bounded>& got, const std::vector<double>& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    INFO(i);
    CHECK(got[i].value == doctest::Approx(want[i]).epsilon(1e-6));
    CHECK(got[i].worst < 1e-3);
  }
}

}  // namespace

TEST_CASE("Resize_NearestTies_FollowTheRoundingMode") {
  // 4 → 6 by half pixels: output 1 lies at exactly 0.5, output 4 at 2.5.
  const auto nearest = [](const char* mode) {
    return by_sizes(ramp({4}), {6}, {text("nearest_mode", mode)}).numbers();
  };
  CHECK(nearest("round_prefer_floor") == std::vector<double>{1, 1, 2, 3, 3, 4});
  CHECK(nearest("round_prefer_ceil") == std::vector<double>{1, 2, 2, 3, 4, 4});
  CHECK(nearest("floor") == std::vector<double>{1, 1, 2, 2, 3, 4});
  CHECK(nearest("ceil") == std::vector<double>{1, 2, 3, 3, 4, 4});
}

TEST_CASE("Resize_TiesThatFloat32Hits_LeaveNoBudget") {
  for (const Bounded& x : by_sizes(ramp({4}), {6}, {}).bounded()) CHECK(x.worst == 0.0);
}

TEST_CASE("Resize_FloorAtARoundedScale_AllowsBothNeighbours") {
  // x·3/7 is the integer 3 at x = 7; in float32 the scale 7/3 is rounded.
  const auto bounds =
      by_sizes(ramp({6}), {14},
               {text("nearest_mode", "floor"), text("coordinate_transformation_mode", "asymmetric")})
          .bounded();
  CHECK(bounds[6].worst == 0.0);  // 18/7
  const auto thirds =
      by_sizes(ramp({3}), {7},
               {text("nearest_mode", "floor"), text("coordinate_transformation_mode", "asymmetric")})
          .bounded();
  for (const Bounded& x : thirds) CHECK(x.worst == 0.0);  // only 0 is an integer, and exact
  const auto fifths =
      by_sizes(ramp({6}), {10},
               {text("nearest_mode", "floor"), text("coordinate_transformation_mode", "asymmetric")})
          .bounded();
  CHECK(fifths[5].value == 4.0);
  CHECK(fifths[5].worst == 1.0);
  CHECK(fifths[4].worst == 0.0);
}

TEST_CASE("Resize_EveryElementType_CanBeMoved") {
  OneNode node{"Resize", {tensor<std::int64_t>({1, 2}, {7, -9}), std::nullopt, std::nullopt, longs({2, 4})}};
  CHECK(node.numbers() == std::vector<double>{7, 7, -9, -9, 7, 7, -9, -9});
}

TEST_CASE("Resize_LinearIntegers_AreCutTowardsZero") {
  OneNode node{"Resize",
               {tensor<std::int8_t>({2}, {0, -5}), std::nullopt, std::nullopt, longs({4})},
               {text("mode", "linear")}};
  CHECK(node.numbers() == std::vector<double>{0, -1, -3, -5});
}

TEST_CASE("Resize_HalfPixelSymmetric_KeepsTheCentre") {
  // Specification: 4 elements by 0.6 → 2; offset 4/2·(1 − 2/2.4).
  close(by_scales(ramp({4}), {0.6f},
                  {text("mode", "linear"), text("coordinate_transformation_mode", "half_pixel_symmetric")})
            .bounded(),
        {1.6666667, 3.3333333});
}

TEST_CASE("Resize_LinearAntialias_AveragesWhatAPixelCovers") {
  // Example resize_downsample_scales_linear_antialias of the specification.
  close(by_scales(ramp({1, 1, 4, 4}), {1, 1, 0.6f, 0.6f}, {text("mode", "linear"), integer("antialias", 1)})
            .bounded(),
        {2.875, 4.5, 9.375, 11.0});
}

TEST_CASE("Resize_CubicAntialias_AveragesWhatAPixelCovers") {
  // Example resize_downsample_scales_cubic_antialias of the specification.
  close(by_scales(ramp({1, 1, 4, 4}), {1, 1, 0.6f, 0.6f}, {text("mode", "cubic"), integer("antialias", 1)})
            .bounded(),
        {2.5180721, 4.2858863, 9.589329, 11.357142});
}

TEST_CASE("Resize_AxesInAnyOrder_NameTheResizedAxes") {
  const auto plain = by_scales(ramp({1, 1, 2, 3}), {1, 1, 2, 3}, {});
  const auto named = by_scales(ramp({1, 1, 2, 3}), {3, 2}, {ints("axes", {3, -2})});
  CHECK(plain.shape() == Shape{1, 1, 4, 9});
  CHECK(named.shape() == Shape{1, 1, 4, 9});
  CHECK(plain.numbers() == named.numbers());
}

TEST_CASE("Resize_KeepAspectRatio_FitsInsideOrAround") {
  const auto shape = [](const char* policy) {
    return by_sizes(ramp({1, 1, 2, 4}), {7, 8},
                    {ints("axes", {2, 3}), text("keep_aspect_ratio_policy", policy)})
        .shape();
  };
  CHECK(shape("not_larger") == Shape{1, 1, 4, 8});
  CHECK(shape("not_smaller") == Shape{1, 1, 7, 14});
  CHECK(shape("stretch") == Shape{1, 1, 7, 8});
}

TEST_CASE("Resize_CropOutsideTheInput_TakesTheExtrapolationValue") {
  OneNode node{"Resize",
               {ramp({4}), floats({2}, {0, 2}), std::nullopt, longs({3})},
               {text("mode", "linear"), text("coordinate_transformation_mode", "tf_crop_and_resize"),
                real("extrapolation_value", -7.0f)}};
  CHECK(node.numbers() == std::vector<double>{1, 4, -7});
}

TEST_CASE("Resize_Opset10Nearest_CutsUpAndRoundsUpDown") {
  OneNode up{"Resize", {ramp({2}), floats({1}, {3})}, {}, 10};
  CHECK(up.numbers() == std::vector<double>{1, 1, 1, 2, 2, 2});
  OneNode down{"Resize", {ramp({4}), floats({1}, {0.6f})}, {}, 10};
  CHECK(down.numbers() == std::vector<double>{1, 3});
}

TEST_CASE("Upsample_ScalesAsAttributeAndAsInput_Agree") {
  OneNode attribute{"Upsample", {ramp({1, 1, 2, 2})}, {reals("scales", {1, 1, 2, 2})}, 7};
  OneNode input{"Upsample", {ramp({1, 1, 2, 2}), floats({4}, {1, 1, 2, 2})}, {}, 9};
  CHECK(attribute.numbers() == input.numbers());
  CHECK(attribute.shape() == Shape{1, 1, 4, 4});
}

TEST_CASE("Resize_FloatCoordinates_LieWithinTheBound") {
  // The scale as a reciprocal in float32, one weight as one minus the other: as runtimes do it.
  std::vector<float> x(50);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i) * 1.7f) * 100.0f;
  const auto bounds = by_sizes(floats({50}, x), {113}, {text("mode", "linear")}).bounded();
  const float scale = 50.0f / 113.0f;
  double used = 0.0;
  for (std::size_t o = 0; o < 113; ++o) {
    const float at = std::fmax(0.0f, (static_cast<float>(o) + 0.5f) * scale - 0.5f);
    const auto i = static_cast<std::size_t>(at);
    const float ratio = at - static_cast<float>(i);
    const float got = (1.0f - ratio) * x[i] + ratio * x[std::min<std::size_t>(i + 1, 49)];
    used = std::fmax(used, std::fabs(static_cast<double>(got) - bounds[o].value) / bounds[o].worst);
  }
  CHECK(used < 1.0);
  CHECK(used > 0.05);
}

TEST_CASE("Resize_InterpolationByADifference_LiesWithinTheBound") {
  // a + (b − a)·w, as XNNPACK and TensorFlow compute it: at 63/64 of the way from a large to a small value
  // its rounding is that of the large one.
  std::vector<float> x(40);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::sin(static_cast<float>(i) * 1.7f) * (i % 2 == 0 ? 1000.0f : 0.01f);
  const auto bounds = by_sizes(floats({40}, x), {40 * 64}, {text("mode", "linear")}).bounded();
  double used = 0.0;
  for (std::size_t o = 0; o < bounds.size(); ++o) {
    const float at = std::fmax(0.0f, (static_cast<float>(o) + 0.5f) / 64.0f - 0.5f);
    const auto i = static_cast<std::size_t>(at);
    const float next = x[std::min<std::size_t>(i + 1, 39)];
    const float got = x[i] + (next - x[i]) * (at - static_cast<float>(i));
    used = std::fmax(used, std::fabs(static_cast<double>(got) - bounds[o].value) / bounds[o].likely);
  }
  CHECK(used < 1.0);
  CHECK(used > 0.05);
}

TEST_CASE("Resize_BadRequests_AreErrors") {
  const auto error = [](OneNode node) { return node.error().message; };
  CHECK(contains(error(by_scales(ramp({4}), {-1}, {})), "positive"));
  CHECK(contains(error(by_scales(ramp({4}), {1e12f}, {})), "limit"));
  CHECK(contains(error(by_scales(ramp({4}), {1, 2}, {})), "scales: expected 1 numbers, got 2"));
  CHECK(contains(error(by_sizes(ramp({4}), {-3}, {})), "sizes"));
  CHECK(contains(error({"Resize", {ramp({4})}}), "neither scales nor sizes"));
  CHECK(contains(error(by_sizes(ramp({4}), {3}, {text("mode", "sharp")})), "'sharp'"));
  CHECK(contains(error(by_sizes(ramp({4}), {3, 3}, {ints("axes", {0, 0})})), "twice"));
  CHECK(contains(error(by_sizes(ramp({0}), {3}, {})), "nothing to make"));
  CHECK(contains(
      error(by_sizes(ramp({4}), {3}, {text("coordinate_transformation_mode", "tf_crop_and_resize")})),
      "roi"));
}

}  // namespace driftscope::test::resize_test
