// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/webgpu/product_kernel.hpp"

#include <algorithm>

namespace driftscope::webgpu {
namespace {

constexpr std::int64_t few_rows = 4;
constexpr std::int64_t min_tiles = 64;  // fewer would leave a GPU's processors idle

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Threads side by side read the same rows of A and neighbouring columns of B.
ProductKernel direct_kernel(const ProductShape& shape) {
  ProductKernel kernel;
  // Reading A one by one takes so much code that drivers compile several rows of it for seconds.
  const std::int64_t tm = !shape.a_vectors || shape.m < 2 ? 1 : shape.m >= 4 ? 4 : 2;
  const std::int64_t tn = shape.n <= 4 || !shape.b_vectors() ? 4 : shape.n > 8 && tm == 1 ? 16 : 8;
  kernel.tile.tm = tm;
  kernel.tile.tn = tn;
  kernel.threads_x = std::min<std::int64_t>(ceil_div(shape.n, tn), 8);
  kernel.threads_y = std::max<std::int64_t>(1, 32 / kernel.threads_x);
  kernel.groups = {ceil_div(shape.n, tn * kernel.threads_x), ceil_div(shape.m, tm * kernel.threads_y),
                   shape.batches};
  return kernel;
}

ProductKernel row_kernel(const ProductShape& shape) {
  ProductKernel kernel{ProductKernel::Kind::row};
  kernel.threads_x = 4;
  kernel.threads_y = 16;
  kernel.groups = {ceil_div(shape.n, 4 * kernel.threads_x), shape.m, shape.batches};
  return kernel;
}

}  // namespace

ProductKernel tiled_kernel(const ProductShape& shape, const Tile& tile) {
  return {ProductKernel::Kind::tiled,
          tile,
          tile.bn / tile.tn,
          tile.bm / tile.tm,
          {ceil_div(shape.n, tile.bn), ceil_div(shape.m, tile.bm), shape.batches}};
}

ProductKernel choose_product_kernel(const ProductShape& shape, const Tile& large_tile, bool for_cpu) {
  if (for_cpu) return direct_kernel(shape);
  if (shape.m <= few_rows && shape.k >= 64) return row_kernel(shape);
  const ProductKernel large = tiled_kernel(shape, large_tile);
  if (large.groups[0] * large.groups[1] * large.groups[2] >= min_tiles) return large;
  if (shape.m >= small_tile.bm / 2 && shape.n >= small_tile.bn / 2) return tiled_kernel(shape, small_tile);
  return direct_kernel(shape);
}

}  // namespace driftscope::webgpu
