#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/draw/bmp.hpp"
#include "core/draw/colour_map.hpp"
#include "core/draw/difference_map.hpp"
#include "core/model/tensor_elements.hpp"
#include "tests/unit/support/model_builder.hpp"
#include "tests/unit/support/text.hpp"

namespace driftscope::test::difference_map_test {
namespace {

Tensor filled(Shape shape, float value = 0.0f) {
  return tensor<float>(shape, std::vector<float>(static_cast<std::size_t>(element_count(shape)), value));
}

Tensor with(Shape shape, std::size_t at, float value) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  values[at] = value;
  return tensor<float>(std::move(shape), values);
}

}  // namespace

TEST_CASE("DifferenceMap_ShowsTheChannelOfTheLargestDifference") {
  const Shape shape = {2, 3, 4, 5};
  const std::size_t at = ((1 * 3 + 2) * 4 + 3) * 5 + 1;
  const auto map = difference_map(filled(shape), with(shape, at, -2.5f));
  REQUIRE(map);
  CHECK(map->left.width == 5);
  CHECK(map->left.height == 4);
  CHECK(map->plane == "channel 2 of 3, batch 1 of 2");
  CHECK(map->worst == std::vector<std::int64_t>{1, 2, 3, 1});
  CHECK(map->worst_right == -2.5);
  CHECK(map->difference.values[3 * 5 + 1] == -2.5);
  CHECK(map->largest == 2.5);
  CHECK(map->low == -2.5);
}

TEST_CASE("DifferenceMap_OneWrongElementOfALargePlane_DoesNotVanishInItsBlock") {
  const Shape shape = {1, 1, 500, 300};
  const auto map = difference_map(filled(shape), with(shape, 499 * 300 + 299, 1.0f));
  REQUIRE(map);
  CHECK(map->left.width <= max_difference_cells);
  CHECK(map->left.height <= max_difference_cells);
  CHECK(map->difference.values.back() == 1.0);
  CHECK(map->right.values.back() < 0.2);  // a mean
  CHECK(bmp_data_uri(difference_map(filled(shape), with(shape, 0, 1.0f))
                         ? heat_map(map->right, map->low, map->high, ColourMap::sequential)
                         : Image{})
            .size() < 14'000);
}

TEST_CASE("DifferenceMap_Vectors_AreWrapped") {
  const auto row = difference_map(filled({1, 10}), with({1, 10}, 7, 1));
  REQUIRE(row);
  CHECK(row->left.height == 1);
  CHECK(row->left.width == 10);
  CHECK(row->plane == "");
  const auto wrapped = difference_map(filled({1, 1000}), with({1, 1000}, 999, 1));
  REQUIRE(wrapped);
  CHECK(wrapped->left.width == 50);  // full rows
  CHECK(wrapped->left.height == 20);
  CHECK(wrapped->plane == "all elements, 50 in a row");
  // One row of each image: not all elements.
  const auto pooled = difference_map(filled({8, 512, 1, 1}), with({8, 512, 1, 1}, 3 * 512 + 40, 1));
  REQUIRE(pooled);
  CHECK(pooled->left.width == 32);
  CHECK(pooled->left.height == 16);
  CHECK(pooled->plane == "batch 3 of 8, 32 in a row");
  CHECK(pooled->difference.values[40] == 1.0);
  const auto large = difference_map(filled({100'000}), with({100'000}, 99'999, 1));
  REQUIRE(large);
  CHECK(large->worst == std::vector<std::int64_t>{99'999});
  CHECK(large->left.width <= max_difference_cells);
  CHECK(large->largest == 1.0);
  CHECK(large->difference.values[large->difference.values.size() - 1] == 1.0);
}

TEST_CASE("DifferenceMap_NaNAndInfinity_AreMarkedAndCounted") {
  const float inf = INFINITY;
  const Tensor left = tensor<float>({2, 3}, {1, NAN, inf, 2, inf, 3});
  const Tensor right = tensor<float>({2, 3}, {1, NAN, inf, NAN, -inf, 4});
  const auto map = difference_map(left, right);
  REQUIRE(map);
  CHECK(map->not_finite == 4);
  CHECK(map->worst == std::vector<std::int64_t>{1, 0});  // a number here, none there
  CHECK(std::isnan(map->difference.values[3]));
  CHECK(map->difference.values[4] == -INFINITY);
  CHECK(map->difference.values[1] == 0.0);  // NaN on both sides
  CHECK(map->largest == 1.0);
  CHECK(map->low == 1.0);
  CHECK(map->high == 4.0);
  const auto nothing = difference_map(filled({2, 2}, NAN), filled({2, 2}, NAN));
  REQUIRE(nothing);
  CHECK(nothing->low == 0.0);
  const float largest = 3.4e38f;
  const auto wide = difference_map(filled({2, 2}, -largest), filled({2, 2}, largest));
  REQUIRE(wide);
  CHECK(std::isfinite(wide->largest));
}

TEST_CASE("DifferenceMap_OfFiniteNumbersThatAreFarApart_IsFinite") {
  const double largest = std::numeric_limits<double>::max();
  const auto map = difference_map(tensor<double>({1, 3}, {largest, 0.0, -largest}),
                                  tensor<double>({1, 3}, {-largest, 0.0, largest}));
  REQUIRE(map);
  CHECK(map->not_finite == 0);
  CHECK(map->difference.values == std::vector<double>{-largest, 0.0, largest});
  CHECK(map->largest == largest);
  const Image image = heat_map(map->difference, -map->largest, map->largest, ColourMap::diverging);
  CHECK(image.pixels[0] == diverging_colour(-1.0));
  CHECK(image.pixels[2] == diverging_colour(1.0));
}

// It reads tensors in place, whatever their elements are.
TEST_CASE("DifferenceMap_OfElementsOfEveryKind_IsOfTheirValues") {
  auto left = Tensor::make(DType::int4, {1, 3});
  auto right = Tensor::make(DType::int4, {1, 3});
  REQUIRE(left.ok());
  REQUIRE(right.ok());
  store_packed(*left, 1, 7);
  store_packed(*right, 1, 15);  // -1
  const auto packed = difference_map(*left, *right);
  REQUIRE(packed);
  CHECK(packed->difference.values == std::vector<double>{0.0, -8.0, 0.0});
  CHECK(packed->worst == std::vector<std::int64_t>{0, 1});
  auto half = Tensor::make(DType::float16, {2});
  REQUIRE(half.ok());
  const auto zeros = Tensor::make(DType::float16, {2});
  REQUIRE(zeros.ok());
  half->mutable_values<std::uint16_t>()[1] = 0x3c00;
  const auto narrow = difference_map(*zeros, *half);
  REQUIRE(narrow);
  CHECK(narrow->worst_right == 1.0);
  auto complex = Tensor::make(DType::complex64, {2});
  REQUIRE(complex.ok());
  CHECK(!difference_map(*complex, *complex));
}

TEST_CASE("DifferenceMap_WhatCannotBeCompared_HasNone") {
  CHECK(!difference_map(filled({0, 3}), filled({0, 3})));
  CHECK(!difference_map(filled({2, 3}), filled({3, 2})));
  CHECK(!difference_map(filled({2}), tensor<std::int64_t>({2}, {1, 2})));
  CHECK(difference_map(tensor<std::int64_t>({2}, {1, 2}), tensor<std::int64_t>({2}, {1, 3})));
  CHECK(difference_map(filled({}), filled({}, 1.0f)));
}

}  // namespace driftscope::test::difference_map_test
