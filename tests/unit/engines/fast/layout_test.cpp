#include "core/engines/fast/layout.hpp"

#include <doctest/doctest.h>

#include "core/base/rng.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::layout_test {

using namespace fast;

TEST_CASE("Layout_ChannelsLast_PutsEachPixelsChannelsTogether") {
  const Shape shape = {1, 2, 2, 2};
  const std::vector<float> nchw = {0, 1, 2, 3, 10, 11, 12, 13};
  std::vector<float> nhwc(8);
  reorder(shape, 4, {}, reinterpret_cast<const std::byte*>(nchw.data()), channels_last(shape),
          reinterpret_cast<std::byte*>(nhwc.data()));
  CHECK(nhwc == std::vector<float>{0, 10, 1, 11, 2, 12, 3, 13});
  CHECK(shape_in_memory({5, 3, 7, 2}, {3}) == Shape{5, 7, 2, 3});
}

TEST_CASE("Layout_OneChannelOrOnePixel_IsTheSameOrder") {
  CHECK(same_order({4, 1, 5, 6}, {}, {1}));
  CHECK(same_order({4, 7, 1, 1}, {}, {7}));
  CHECK(same_order({4, 12}, {}, {12}));
  CHECK(!same_order({4, 12}, {}, {3}));
  CHECK(!same_order({1, 2, 2, 1}, {}, {2}));
}

TEST_CASE("Layout_ThereAndBack_RestoresEveryByte") {
  const std::uint64_t first = test_seed(7);
  SEED_INFO(first);
  for (std::uint64_t seed = first; seed < first + repetitions(60); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    Shape shape = {static_cast<std::int64_t>(1 + rng.below(3))};
    const std::size_t rank = 2 + rng.below(3);
    while (shape.size() < rank) shape.push_back(static_cast<std::int64_t>(1 + rng.below(40)));
    const Layout layout = channels_last(shape);
    for (const std::size_t bytes : {1u, 2u, 4u, 8u}) {
      std::vector<std::byte> source(static_cast<std::size_t>(element_count(shape)) * bytes);
      for (std::byte& x : source) x = static_cast<std::byte>(rng.below(256));
      std::vector<std::byte> there(source.size());
      std::vector<std::byte> back(source.size());
      reorder(shape, bytes, {}, source.data(), layout, there.data());
      reorder(shape, bytes, layout, there.data(), {}, back.data());
      CHECK(back == source);
    }
  }
}

}  // namespace driftscope::test::layout_test
