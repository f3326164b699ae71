// Values between the orders of host and device.
#include "core/engines/gpu/host_order.hpp"

#include <doctest/doctest.h>

#include <numeric>

namespace driftscope::test::host_order_test {
namespace {

template <class T>
void check_there_and_back(const Shape& shape) {
  std::vector<T> plain(static_cast<std::size_t>(element_count(shape)));
  std::iota(plain.begin(), plain.end(), T{});
  std::vector<T> turned(plain.size());
  std::vector<T> back(plain.size());
  const lowering::Layout last = lowering::channels_last(shape);
  const auto bytes = [](std::vector<T>& values) { return reinterpret_cast<std::byte*>(values.data()); };
  gpu::copy_in_order(shape, sizeof(T), {}, bytes(plain), last, bytes(turned));
  const std::int64_t spatial = shape[2] * shape[3];
  for (std::int64_t n = 0; n < shape[0]; ++n)
    for (std::int64_t c = 0; c < shape[1]; ++c)
      for (std::int64_t s = 0; s < spatial; ++s)
        CHECK(turned[static_cast<std::size_t>((n * spatial + s) * shape[1] + c)] ==
              plain[static_cast<std::size_t>((n * shape[1] + c) * spatial + s)]);
  gpu::copy_in_order(shape, sizeof(T), last, bytes(turned), {}, bytes(back));
  CHECK(back == plain);
  gpu::copy_in_order(shape, sizeof(T), last, bytes(turned), last, bytes(back));
  CHECK(back == turned);
}

TEST_CASE("CopyInOrder_ThereAndBack_OfEveryElementSize") {
  check_there_and_back<float>({2, 3, 5, 7});
  check_there_and_back<float>({1, 70, 9, 13});
  check_there_and_back<std::uint8_t>({1, 3, 4, 4});
  check_there_and_back<std::uint16_t>({2, 4, 1, 5});
  check_there_and_back<std::int64_t>({1, 33, 2, 40});
}

TEST_CASE("PlacesOf_ElementsOfALayout_AreWhereTheyWerePut") {
  const Shape shape = {2, 3, 1, 4};
  CHECK(gpu::places_of(shape, {}).empty());
  const std::vector<std::uint32_t> places = gpu::places_of(shape, lowering::channels_last(shape));
  REQUIRE(places.size() == 24);
  for (std::uint32_t i = 0; i < 24; ++i)
    CHECK(places[i] == i / 12 * 12 + i % 4 * 3 + i / 4 % 3);  // batch, then place, then channel
}

TEST_CASE("CopyInOrder_BetweenTwoGroupings_GoesByThePlainOrder") {
  const Shape shape = {1, 12};
  std::vector<float> by_three(12);
  std::iota(by_three.begin(), by_three.end(), 0.0f);
  std::vector<float> plain(12);
  std::vector<float> by_four(12);
  std::vector<float> expected(12);
  const auto bytes = [](std::vector<float>& values) { return reinterpret_cast<std::byte*>(values.data()); };
  gpu::copy_in_order(shape, 4, {3}, bytes(by_three), {4}, bytes(by_four));
  gpu::copy_in_order(shape, 4, {3}, bytes(by_three), {}, bytes(plain));
  gpu::copy_in_order(shape, 4, {}, bytes(plain), {4}, bytes(expected));
  CHECK(by_four == expected);
}

}  // namespace
}  // namespace driftscope::test::host_order_test
