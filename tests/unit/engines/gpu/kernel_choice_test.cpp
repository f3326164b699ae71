// Which kernel GPU engines choose for a shape, and how it is divided, without a GPU.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/rng.hpp"
#include "core/engines/gpu/conv_parts.hpp"
#include "core/engines/webgl/product_kernel.hpp"
#include "core/engines/webgpu/lowering.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::gpu_kernel_choice_test {
namespace {

using gpu::choose_conv_kernel;
using gpu::ConvKernel;

TEST_CASE("ConvKernel_OfGroups_IsDepthwiseOnlyWhereTheShaderCan") {
  CHECK(choose_conv_kernel(1, 1, 1, 4) == ConvKernel::product);
  CHECK(choose_conv_kernel(1, 7, 3, 4) == ConvKernel::product);
  CHECK(choose_conv_kernel(8, 8, 1, 4) == ConvKernel::depthwise);
  CHECK(choose_conv_kernel(6, 6, 1, 4) == ConvKernel::any);
  CHECK(choose_conv_kernel(6, 6, 1, 1) == ConvKernel::depthwise);
  CHECK(choose_conv_kernel(4, 8, 1, 1) == ConvKernel::any);
  CHECK(choose_conv_kernel(2, 8, 4, 4) == ConvKernel::any);
}

using Kind = webgpu::ProductKernel::Kind;

webgpu::ProductKernel on_gpu(const webgpu::ProductShape& shape) {
  return webgpu::choose_product_kernel(shape, webgpu::large_tiles[0], false);
}

TEST_CASE("WebGpuProduct_OnAGpu_IsTiledWhereTilesFillIt") {
  CHECK(on_gpu({.m = 512, .n = 512, .k = 64}).kind == Kind::tiled);
  CHECK(on_gpu({.m = 512, .n = 512, .k = 64}).tile.bm == 64);
  CHECK(on_gpu({.m = 64, .n = 512, .k = 64}).tile.bm == 32);
  CHECK(on_gpu({.m = 64, .n = 512, .k = 64, .batches = 8}).tile.bm == 64);
  CHECK(on_gpu({.m = 15, .n = 512, .k = 64}).kind == Kind::direct);
  CHECK(on_gpu({.m = 16, .n = 15, .k = 64}).kind == Kind::direct);
  CHECK(on_gpu({.m = 4, .n = 512, .k = 64}).kind == Kind::row);
  CHECK(on_gpu({.m = 4, .n = 512, .k = 63}).kind == Kind::direct);
}

TEST_CASE("WebGpuProduct_OnACpu_IsAlwaysDirect") {
  for (const std::int64_t m : {1, 4, 512})
    CHECK(webgpu::choose_product_kernel({.m = m, .n = 512, .k = 64}, webgpu::large_tiles[0], true).kind ==
          Kind::direct);
}

// Element by element: each is in exactly one part of one workgroup, whatever the kernel.
TEST_CASE("WebGpuProduct_OfAnyShape_IsCoveredByItsWorkgroups") {
  const std::uint64_t seed = test_seed(61);
  SEED_INFO(seed);
  Rng rng(seed);
  const auto below = [&](std::uint64_t limit) { return static_cast<std::int64_t>(1 + rng.below(limit)); };
  std::array<int, 3> seen = {};
  for (int round = 0; round < 2000; ++round) {
    webgpu::ProductShape shape{.m = below(600), .n = below(600), .k = below(200), .batches = below(3)};
    if (rng.below(2) == 0) shape.m = below(6);
    shape.a_vectors = rng.below(2) == 0;
    shape.b_packed = rng.below(2) == 0;
    shape.b_transposed = !shape.b_packed && rng.below(2) == 0;
    const auto& tile = webgpu::large_tiles[rng.below(webgpu::large_tiles.size())];
    const auto kernel = webgpu::choose_product_kernel(shape, tile, rng.below(3) == 0);
    CAPTURE(shape.m);
    CAPTURE(shape.n);
    CAPTURE(shape.k);
    ++seen[static_cast<std::size_t>(kernel.kind)];
    std::int64_t rows = kernel.tile.tm * kernel.threads_y;
    std::int64_t columns = kernel.tile.tn * kernel.threads_x;
    if (kernel.kind == Kind::row) {
      rows = 1;
      columns = 4 * kernel.threads_x;
    }
    CHECK(kernel.threads_x * kernel.threads_y <= 256);
    CHECK(kernel.groups[0] == (shape.n - 1) / columns + 1);
    CHECK(kernel.groups[1] == (shape.m - 1) / rows + 1);
    CHECK(kernel.groups[2] == shape.batches);
    CHECK((kernel.kind == Kind::row || kernel.tile.tn % 4 == 0));
    if (kernel.kind == Kind::tiled) {
      CHECK(rows == kernel.tile.bm);
      CHECK(columns == kernel.tile.bn);
      // Each thread brings as many fours into the tiles as every other.
      CHECK(kernel.tile.bm * kernel.tile.bk / 4 % kernel.tile.threads() == 0);
      CHECK(kernel.tile.bk * kernel.tile.bn / 4 % kernel.tile.threads() == 0);
    }
  }
  CHECK(std::ranges::all_of(seen, [](int times) { return times > 50; }));
}

TEST_CASE("WebGpuGrid_OfManyItems_HasAPlaceForEach") {
  for (const std::int64_t items : {1, 63, 64, 65, 64 * 100, 64 * 100 + 1, 64 * 100 * 100}) {
    CAPTURE(items);
    const auto grid = webgpu::grid_of(items, 64, 100);
    REQUIRE(grid);
    CHECK(grid->groups[0] <= 100);
    CHECK(grid->groups[1] <= 100);
    CHECK(grid->row == std::int64_t{grid->groups[0]} * 64);
    CHECK(grid->row * grid->groups[1] >= items);
    CHECK(grid->row * (grid->groups[1] - 1) < items);
  }
  CHECK(!webgpu::grid_of(64 * 100 * 100 + 1, 64, 100));
  CHECK(!webgpu::grid_of(0, 64, 100));
  CHECK(webgpu::grid_of(std::int64_t{0x7ff00000}, 1, 65'535));
  CHECK(!webgpu::grid_of(std::int64_t{1} << 31, 1, 65'535));  // beyond i32
}

TEST_CASE("WebGpuLanes_AWorkgroupForEach_WhereTheyAreLongAndFew") {
  CHECK(webgpu::are_wide({.outer = 8, .size = 64, .inner = 1}, false));
  CHECK(!webgpu::are_wide({.outer = 8, .size = 64, .inner = 1}, true));
  CHECK(!webgpu::are_wide({.outer = 8, .size = 63, .inner = 1}, false));
  CHECK(webgpu::are_wide({.outer = 1, .size = 64, .inner = 16'383}, false));
  CHECK(!webgpu::are_wide({.outer = 1, .size = 64, .inner = 16'384}, false));
  CHECK(webgpu::are_wide({.outer = 100'000, .size = 64, .inner = 1}, false));
}

using webgl::choose_product_kernel;
using GlKind = webgl::ProductKernel::Kind;
constexpr std::int64_t loops = 3750;

TEST_CASE("WebGlProduct_WithColumnsInFours_IsOfTexels") {
  const webgl::ProductKernel kernel = choose_product_kernel(
      {.n = 8, .k = 12, .run_of_a = 12, .constant_b = true, .y_layer_texels = 6}, loops);
  CHECK(kernel == webgl::ProductKernel{GlKind::texels, false, true, true});
  // Rows that layers cut: one element after the other, unless that loops for long.
  CHECK(
      choose_product_kernel({.n = 8, .k = 12, .run_of_a = 12, .constant_b = true, .y_layer_texels = 7}, loops)
          .kind == GlKind::any);
  CHECK(choose_product_kernel(
            {.n = 8, .k = 20'000, .run_of_a = 20'000, .constant_b = true, .y_layer_texels = 7}, loops)
            .kind == GlKind::padded);
  CHECK(choose_product_kernel({.n = 8, .k = 12, .run_of_a = 12, .b_transposed = true, .y_layer_texels = 6},
                              loops)
            .kind == GlKind::any);
}

TEST_CASE("WebGlProduct_OfOddColumns_IsPaddedWhereOneByOneWouldLoopForLong") {
  webgl::ProductShape shape{.n = 7, .k = 4 * loops, .run_of_a = 4 * loops, .constant_b = true};
  CHECK(choose_product_kernel(shape, loops).kind == GlKind::any);
  shape.k = shape.run_of_a = 4 * loops + 4;
  CHECK(choose_product_kernel(shape, loops).kind == GlKind::padded);
  shape.k = shape.run_of_a = loops + 1;  // not in fours
  CHECK(choose_product_kernel(shape, loops).kind == GlKind::padded);
  shape.constant_b = false;
  CHECK(choose_product_kernel(shape, loops).kind == GlKind::any);
}

TEST_CASE("WebGlProduct_OfWindows_ReadsFourChannelsAtOnceWhereLayersLeavePixelsWhole") {
  webgl::ProductShape shape{.n = 8,
                            .k = 72,
                            .run_of_a = 8,
                            .windows = true,
                            .constant_b = true,
                            .a_layers = 4,
                            .a_layer_texels = 10,
                            .y_layer_texels = 4};
  CHECK(choose_product_kernel(shape, loops) == webgl::ProductKernel{GlKind::texels, true, true, true});
  shape.a_layer_texels = 11;
  CHECK(choose_product_kernel(shape, loops) == webgl::ProductKernel{GlKind::texels, true, false, false});
  shape.a_layers = 1;
  CHECK(choose_product_kernel(shape, loops).a_vectors);
  shape.run_of_a = 6;
  CHECK(!choose_product_kernel(shape, loops).a_vectors);
  shape.pointwise = true;  // a matrix as it is
  CHECK(choose_product_kernel(shape, loops) == webgl::ProductKernel{GlKind::texels, false, true, true});
  shape.n = 7;
  CHECK(choose_product_kernel(shape, loops) == webgl::ProductKernel{GlKind::padded, true, false, false});
}

}  // namespace
}  // namespace driftscope::test::gpu_kernel_choice_test
