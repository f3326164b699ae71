// MaxUnpool, MaxRoiPool, RoiAlign, GridSample, AffineGrid, DeformConv, Det beyond the ONNX cases:
// closed forms and properties.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "unit/ops/one_node.hpp"

namespace driftscope::test::sampling_test {
TEST_CASE("GridSample_IdentityGrid_GivesTheInput") {
  const OneNode grid{"AffineGrid", {floats({1, 2, 3}, {1, 0, 0, 0, 1, 0}), longs({1, 1, 4, 8})}};
  const auto points = strict_outputs(grid.graph(), grid.named());
  REQUIRE(points.ok());
  for (const char* mode : {"linear", "nearest", "cubic"}) {
    INFO(mode);
    std::vector<double> want(32);
    for (std::size_t i = 0; i < want.size(); ++i) want[i] = static_cast<double>(i);
    close({"GridSample", {ramp({1, 1, 4, 8}), (*points)[0]}, {text("mode", mode)}}, want);
  }
}

TEST_CASE("GridSample_ThreeAxes_InterpolatesBetweenEight") {
  // The centre of a 2×2×2 cube: the mean of its corners.
  close({"GridSample", {ramp({1, 1, 2, 2, 2}), floats({1, 1, 1, 1, 3}, {0, 0, 0})}}, {3.5});
  // x is the last axis.
  close({"GridSample",
         {ramp({1, 1, 2, 2, 2}), floats({1, 1, 1, 1, 3}, {1, -1, -1})},
         {integer("align_corners", 1)}},
        {1});
}

TEST_CASE("GridSample_NearestTies_GoToEvenAndAreSure") {
  // x = −1, 0, 1 on two elements: −0.5, 0.5, 1.5.
  const OneNode node{"GridSample",
                     {ramp({1, 1, 1, 2}), floats({1, 1, 3, 2}, {-1, 0, 0, 0, 1, 0})},
                     {text("mode", "nearest"), text("padding_mode", "border")}};
  CHECK(node.numbers() == std::vector<double>{0, 0, 1});
  for (const Bounded& x : node.bounded()) CHECK(x.worst == 0.0);
}

TEST_CASE("GridSample_FarOutsidePoints_FollowThePadding") {
  const auto sample = [](const char* padding) {
    return OneNode{"GridSample",
                   {floats({1, 1, 1, 2}, {3, 5}), floats({1, 1, 3, 2}, {1e30f, 0, -1e30f, 0, 2.5f, 0})},
                   {text("padding_mode", padding)}}
        .strict_numbers();
  };
  CHECK(sample("zeros") == std::vector<double>{0, 0, 0});
  CHECK(sample("border") == std::vector<double>{5, 3, 5});
  CHECK(sample("reflection")[2] == 3.0);  // at 3.0, beyond 1.5 by 1.5: back to 0
}

TEST_CASE("GridSample_WrongShapes_AreErrors") {
  CHECK(contains(OneNode{"GridSample", {ramp({1, 1, 2, 2}), ramp({2, 1, 1, 2})}}.error().message,
                 "input 1 (grid)"));
  CHECK(contains(OneNode{"GridSample", {ramp({1, 1, 2, 2}), ramp({1, 1, 1, 3})}}.error().message,
                 "2 on the last"));
  CHECK(contains(OneNode{"GridSample", {ramp({1, 1, 0, 2}), ramp({1, 1, 1, 2})}}.error().message, "empty"));
}

TEST_CASE("AffineGrid_CornersAndCentres_SpanMinusOneToOne") {
  OneNode node{"AffineGrid",
               {floats({1, 2, 3}, {1, 0, 0, 0, 2, 0.5f}), longs({1, 1, 2, 2})},
               {integer("align_corners", 1)}};
  close(node, {-1, -1.5, 1, -1.5, -1, 2.5, 1, 2.5});
  node.attributes = {};
  close(node, {-0.5, -0.5, 0.5, -0.5, -0.5, 1.5, 0.5, 1.5});
}

TEST_CASE("DeformConv_WithoutOffsets_IsAConvolution") {
  const Tensor x = ramp({1, 2, 4, 5});
  const Tensor w = ramp({2, 1, 2, 2});
  const std::vector<Attribute> geometry = {integer("group", 2), ints("pads", {0, 1, 1, 0})};
  const OneNode conv{"Conv", {x, w, floats({2}, {1, -1})}, geometry};
  const OneNode deform{"DeformConv",
                       {x, w, floats({1, 8, 4, 5}, std::vector<float>(160)), floats({2}, {1, -1}),
                        floats({1, 4, 4, 5}, std::vector<float>(80, 1.0f))},
                       geometry};
  CHECK(deform.numbers() == conv.numbers());
}

TEST_CASE("DeformConv_Offsets_MoveTheTaps") {
  // One tap, moved half an element down and a whole one to the right, times its mask.
  close({"DeformConv",
         {ramp({1, 1, 3, 3}), floats({1, 1, 1, 1}, {2}),
          floats({1, 2, 3, 3},
                 {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 1, 1, 1, 1, 1, 1, 1, 1, 1}),
          std::nullopt, floats({1, 1, 3, 3}, std::vector<float>(9, 0.5f))}},
        {2.5, 3.5, 0, 5.5, 6.5, 0, 3.5, 4, 0});
}

TEST_CASE("RoiAlign_ARampUnderAWholeRegion_GivesBinCentres") {
  // value = 4·y + x: the mean of a bin is the value at its centre.
  OneNode node{"RoiAlign",
               {ramp({1, 1, 4, 4}), floats({1, 4}, {1, 1, 3, 3}), longs({0})},
               {integer("output_height", 2), integer("output_width", 2), integer("sampling_ratio", 2)}};
  close(node, {5, 6, 9, 10});  // half_pixel: from 0.5 to 2.5
  node.attributes.push_back(text("coordinate_transformation_mode", "output_half_pixel"));
  close(node, {7.5, 8.5, 11.5, 12.5});
  node.inputs[2] = longs({1});
  CHECK(contains(node.error().message, "element 0 is 1"));
}

TEST_CASE("MaxRoiPool_Bins_TakeTheirLargestElement") {
  const OneNode node{
      "MaxRoiPool", {ramp({1, 1, 4, 4}), floats({1, 5}, {0, 0, 0, 3, 3})}, {ints("pooled_shape", {2, 2})}};
  CHECK(node.numbers() == std::vector<double>{5, 7, 13, 15});
}

TEST_CASE("MaxUnpool_AfterMaxPool_PutsElementsBack") {
  OneNode pool{"MaxPool", {ramp({1, 1, 4, 4})}, {ints("kernel_shape", {2, 2}), ints("strides", {2, 2})}};
  pool.outputs = 2;
  const auto pooled = pool.run();
  const OneNode unpool{
      "MaxUnpool", {pooled[0], pooled[1]}, {ints("kernel_shape", {2, 2}), ints("strides", {2, 2})}};
  CHECK(unpool.numbers() == std::vector<double>{0, 0, 0, 0, 0, 5, 0, 7, 0, 0, 0, 0, 0, 13, 0, 15});
  OneNode wrong = unpool;
  wrong.inputs[1] = tensor<std::int64_t>({1, 1, 2, 2}, {0, 1, 2, 16});
  CHECK(contains(wrong.error().message, "element 3 is 16, expected 0 to 15"));
}

TEST_CASE("Det_TriangleAndSwappedRows_GiveTheProductOfTheDiagonal") {
  close({"Det", {floats({2, 2, 2}, {2, 5, 0, 3, 0, 3, 2, 5})}}, {6, -6});
  close({"Det", {floats({3, 3}, {0.5f, 1, 2, 3, 4, 5, 6, 7, 9})}}, {-2.5});
  CHECK(OneNode{"Det", {floats({2, 2}, {1, 2, 2, 4})}}.strict_numbers() == std::vector<double>{0});
}

}  // namespace driftscope::test::sampling_test
