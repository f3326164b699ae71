#include "core/device/texture_extent.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

namespace driftscope::test::texture_extent_test {
namespace {

using gpu::shared_extent;
using gpu::texture_extent;
using gpu::TextureExtent;

constexpr std::array<std::int64_t, 12> sizes = {0, 1, 2, 5, 16, 17, 65, 255, 257, 4097, 70'000, 1'000'003};

TEST_CASE("TextureExtent_HoldsAllTexels_InRowsOfAPowerOfTwo") {
  for (const std::int64_t texels : sizes) {
    const TextureExtent extent = texture_extent(texels);
    CHECK(extent.width == std::int64_t{1} << extent.width_bits);
    CHECK(extent.width * extent.height >= texels);
    CHECK(extent.width * (extent.height - 1) < std::max<std::int64_t>(texels, 1));
    CHECK(extent.height <= extent.width);
  }
}

TEST_CASE("ObjectExtent_HoldsAllBytes_InEqualLayers") {
  for (const std::int64_t bytes : {4, 16, 20, 64, 68, 4096, 70'000})
    for (const int layers : {1, 4}) {
      CAPTURE(bytes);
      CAPTURE(layers);
      const TextureExtent extent = gpu::object_extent(bytes, layers);
      CHECK(extent.width * extent.height * layers * 16 >= bytes);
    }
  CHECK(gpu::object_extent(64, 1).width == 2);
  CHECK(gpu::object_extent(65, 4).width == texture_extent(2).width);
  CHECK(gpu::row_texels(256) == 4);
}

TEST_CASE("SharedExtent_ServesEverySmallerNumber") {
  for (const std::int64_t large : sizes) {
    const TextureExtent shared = shared_extent(large);
    for (std::int64_t small = 0; small <= large; small += large / 300 + 1) {
      CAPTURE(large);
      CAPTURE(small);
      CHECK(texture_extent(small).width <= shared.width);
      CHECK(texture_extent(small).height <= shared.height);
    }
  }
}

}  // namespace
}  // namespace driftscope::test::texture_extent_test
