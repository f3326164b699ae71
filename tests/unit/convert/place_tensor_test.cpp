// Tensors on their way to another model's order and types, and back.
#include "core/convert/place_tensor.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "unit/support/model_builder.hpp"

namespace driftscope::test::place_tensor_test {

using convert::PlacedValue;

TEST_CASE("PlaceTensor_ChannelsLast_GoesThereAndBack") {
  std::vector<float> values(1 * 2 * 3 * 4);
  std::iota(values.begin(), values.end(), 0.0F);
  const Tensor nchw = *Tensor::from_values<float>({1, 2, 3, 4}, values);
  const PlacedValue place = {"x", {0, 2, 3, 1}, DType::float32};
  const auto nhwc = convert::to_placed(nchw, place);
  REQUIRE(nhwc.ok());
  CHECK(nhwc->shape() == Shape{1, 3, 4, 2});
  // element (n, h, w, c) is element (n, c, h, w) of the original
  for (std::int64_t h = 0; h < 3; ++h)
    for (std::int64_t w = 0; w < 4; ++w)
      for (std::int64_t c = 0; c < 2; ++c)
        CHECK(nhwc->values<float>()[(h * 4 + w) * 2 + c] == values[(c * 3 + h) * 4 + w]);
  const auto back = convert::from_placed(*nhwc, place, DType::float32);
  REQUIRE(back.ok());
  CHECK(back->shape() == nchw.shape());
  CHECK(std::ranges::equal(back->bytes(), nchw.bytes()));
}

TEST_CASE("PlaceTensor_Int64_IsInt32ThereWhereEveryElementFits") {
  const PlacedValue place = {"i", {}, DType::int32};
  const auto fits = convert::to_placed(tensor<std::int64_t>({2}, {-2147483648LL, 2147483647LL}), place);
  REQUIRE(fits.ok());
  CHECK(fits->values<std::int32_t>()[0] == std::numeric_limits<std::int32_t>::min());
  const auto back = convert::from_placed(*fits, place, DType::int64);
  REQUIRE(back.ok());
  CHECK(back->values<std::int64_t>()[1] == 2147483647LL);
  const auto too_large = convert::to_placed(tensor<std::int64_t>({2}, {0, 2147483648LL}), place);
  REQUIRE_FALSE(too_large.ok());
  CHECK(too_large.error().message == "element 1 is 2147483648, which int32 cannot hold");
}

TEST_CASE("PlaceTensor_Offset_IsAddedThereAndTakenBack") {
  const Tensor ours = tensor<std::int8_t>({3}, {-128, 0, 127});
  const convert::PlacedValue place = {"q", {}, DType::uint8, 128};
  const auto there = convert::to_placed(ours, place);
  REQUIRE_MESSAGE(there.ok(), there.error().message);
  CHECK(std::ranges::equal(there->values<std::uint8_t>(), std::vector<std::uint8_t>{0, 128, 255}));
  const auto back = convert::from_placed(*there, place, DType::int8);
  REQUIRE(back.ok());
  CHECK(std::ranges::equal(back->bytes(), ours.bytes()));
}

TEST_CASE("PlaceTensor_OfAnUnexpectedTypeOrRank_ComesAsItIs") {
  const PlacedValue place = {"x", {0, 2, 1}, DType::int32};
  const auto other = convert::from_placed(tensor<float>({2}, {1.5F, 2}), place, DType::int64);
  REQUIRE(other.ok());
  CHECK(other->dtype() == DType::float32);
  CHECK(other->shape() == Shape{2});
}

TEST_CASE("PlaceTensor_NoPermutation_IsRejected") {
  CHECK_FALSE(convert::permuted(tensor<float>({1, 2}, {1, 2}), {0, 0}).ok());
  CHECK_FALSE(convert::permuted(tensor<float>({1, 2}, {1, 2}), {0, 1, 2}).ok());
  CHECK(convert::permuted(tensor<float>({0, 2}, {}), {1, 0})->shape() == Shape{2, 0});
}

}  // namespace driftscope::test::place_tensor_test
