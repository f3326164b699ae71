#include "core/engines/fast/reorder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "core/base/rng.hpp"
#include "core/engines/fast/plain_order.hpp"
#include "core/engines/fast/pthreadpool_on.hpp"
#include "core/platform/platform.hpp"
#include "core/runtime/engine.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::layout_test {

using namespace fast;
using namespace lowering;

TEST_CASE("Layout_ChannelsLast_PutsEachPixelsChannelsTogether") {
  const Shape shape = {1, 2, 2, 2};
  REQUIRE((*find_engine("fast"))->available().ok);  // XNNPACK is initialized
  std::vector<float> nchw = {0, 1, 2, 3, 10, 11, 12, 13};
  nchw.resize(8 + read_beyond / sizeof(float));
  std::vector<float> nhwc(8);
  REQUIRE(reorder(shape, 4, {}, reinterpret_cast<const std::byte*>(nchw.data()), channels_last(shape),
                  reinterpret_cast<std::byte*>(nhwc.data()))
              .ok());
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

TEST_CASE("Layout_ThereAndBack_EveryByteHasItsPlace") {
  REQUIRE((*find_engine("fast"))->available().ok);  // XNNPACK is initialized
  const std::uint64_t first = test_seed(7);
  SEED_INFO(first);
  ThreadPool threads(2);
  const auto pool = pthreadpool_on(threads);
  for (std::uint64_t seed = first; seed < first + repetitions(60); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    Shape shape = {static_cast<std::int64_t>(1 + rng.below(3))};
    const std::size_t rank = 2 + rng.below(3);
    while (shape.size() < rank) shape.push_back(static_cast<std::int64_t>(1 + rng.below(40)));
    const Layout layout = channels_last(shape);
    for (const std::size_t bytes : {1u, 2u, 4u, 8u}) {
      const std::size_t size = static_cast<std::size_t>(element_count(shape)) * bytes;
      std::vector<std::byte> source(size + read_beyond);
      for (std::byte& x : source) x = static_cast<std::byte>(rng.below(256));
      std::vector<std::byte> there(size + read_beyond, std::byte{0x5a});
      std::vector<std::byte> back = there;
      REQUIRE(reorder(shape, bytes, {}, source.data(), layout, there.data(), pool.get()).ok());
      REQUIRE(reorder(shape, bytes, layout, there.data(), {}, back.data(), pool.get()).ok());
      const auto [batch, channels, spatial] = blocks_of(shape, layout);
      std::size_t misplaced = 0;
      for (std::int64_t n = 0; n < batch; ++n)
        for (std::int64_t c = 0; c < channels; ++c)
          for (std::int64_t s = 0; s < spatial; ++s) {
            const auto from = static_cast<std::size_t>((n * channels + c) * spatial + s) * bytes;
            const auto to = static_cast<std::size_t>((n * spatial + s) * channels + c) * bytes;
            if (std::memcmp(&source[from], &there[to], bytes) != 0) ++misplaced;
          }
      CHECK(misplaced == 0);
      CHECK(std::equal(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(size), back.begin()));
      for (const auto& copy : {there, back})
        CHECK(std::all_of(copy.begin() + static_cast<std::ptrdiff_t>(size), copy.end(),
                          [](std::byte x) { return x == std::byte{0x5a}; }));
    }
  }
}

TEST_CASE("PlainOrder_AnyPiece_IsThatPieceOfTheWhole") {
  REQUIRE((*find_engine("fast"))->available().ok);  // XNNPACK is initialized
  const std::uint64_t first = test_seed(8);
  SEED_INFO(first);
  std::vector<Turn32> kernels;
  for (const int bits : {0, 128, 256, 512})
    if (const auto simd = choose_simd(bits); simd.ok()) kernels.push_back(turn32(*simd));
  for (std::uint64_t seed = first; seed < first + repetitions(60); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const Shape shape = {
        static_cast<std::int64_t>(1 + rng.below(3)), static_cast<std::int64_t>(1 + rng.below(70)),
        static_cast<std::int64_t>(1 + rng.below(9)), static_cast<std::int64_t>(1 + rng.below(9))};
    const Blocks blocks = blocks_of(shape, channels_last(shape));
    for (const std::size_t bytes : {1u, 2u, 4u, 8u}) {
      const std::size_t size = static_cast<std::size_t>(element_count(shape)) * bytes;
      std::vector<std::byte> source(size + read_beyond);
      for (std::byte& x : source) x = static_cast<std::byte>(rng.below(256));
      std::vector<std::byte> whole(size);
      REQUIRE(reorder(shape, bytes, channels_last(shape), source.data(), {}, whole.data()).ok());
      source.resize(size);  // so that a sanitizer detects reads beyond it
      source.shrink_to_fit();
      const std::uint64_t grain = plain_order_grain(blocks, bytes);
      for (int piece = 0; piece < 8; ++piece) {
        std::size_t begin = rng.below(size);
        if (piece % 2 == 0) begin = begin / grain * grain;
        const std::size_t count = piece == 0 ? size - begin : rng.below(size - begin + 1);
        std::vector<std::byte> target(count + 2, std::byte{0x5a});
        const std::size_t shift = piece == 7 ? 1 : 0;  // of an odd address
        copy_plain_order(blocks, bytes, kernels[static_cast<std::size_t>(piece) % kernels.size()],
                         source.data(), begin, std::span(target).subspan(shift, count));
        CAPTURE(begin);
        CAPTURE(count);
        CHECK(std::equal(target.begin() + static_cast<std::ptrdiff_t>(shift),
                         target.begin() + static_cast<std::ptrdiff_t>(shift + count),
                         whole.begin() + static_cast<std::ptrdiff_t>(begin)));
        CHECK(target[shift + count] == std::byte{0x5a});
      }
    }
  }
}

}  // namespace driftscope::test::layout_test
