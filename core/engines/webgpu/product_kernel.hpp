// Which kernel computes a product on WebGPU, how it is divided, and into how many workgroups: for shapes, and
// for the kind of device. Clients: product.cpp, tile_probe.cpp, the engine's option `tiles`, tests. Pure: it
// knows shapes, no buffers.
#pragma once

#include <array>
#include <cstdint>

namespace driftscope::webgpu {

/// What a workgroup of product_tiled.wgsl computes, in steps of `bk`, and the part of one thread.
struct Tile {
  const char* name = "";
  std::int64_t bm = 0, bn = 0, bk = 0, tm = 0, tn = 0;
  [[nodiscard]] std::int64_t threads() const { return bm / tm * (bn / tn); }
  /// Of the memory that a workgroup shares.
  [[nodiscard]] std::int64_t bytes() const { return 4 * (bm * (bk + 4) + bk * bn); }
};

/// For large products; which is best is measured on each device.
inline constexpr std::array large_tiles = {
    Tile{"64x64-8x8", 64, 64, 16, 8, 8}, Tile{"64x64-4x8", 64, 64, 16, 4, 8},
    Tile{"64x64-4x4", 64, 64, 16, 4, 4}, Tile{"128x64-8x8", 128, 64, 16, 8, 8},
    Tile{"128x128-8x8", 128, 128, 8, 8, 8}};
/// For smaller ones.
inline constexpr Tile small_tile = {"32x32-4x4", 32, 32, 16, 4, 4};

/// What the choice depends on.
struct ProductShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batches = 1;
  bool a_vectors = false;     ///< four of A along K may be read at once
  bool b_packed = false;      ///< B is a constant, both of its sizes padded to multiples of four
  bool b_transposed = false;  ///< or else as it lies, N x K

  /// Four of B along N may be read at once.
  [[nodiscard]] bool b_vectors() const { return b_packed || (!b_transposed && n % 4 == 0); }
};

struct ProductKernel {
  enum class Kind : std::uint8_t {
    tiled,   ///< product_tiled.wgsl: tiles from the memory that a workgroup shares
    direct,  ///< product_direct.wgsl: the same from the caches
    row,     ///< product_row.wgsl: K shared among threads, for few rows
  };
  Kind kind = Kind::direct;
  Tile tile = {};              ///< of tiled; of direct only the part of one thread
  std::int64_t threads_x = 1;  ///< of a workgroup; of row: columns in fours, and parts of K
  std::int64_t threads_y = 1;
  std::array<std::int64_t, 3> groups = {};
};

/// `for_cpu`: for a device that computes on the CPU, whose barriers are expensive.
[[nodiscard]] ProductKernel choose_product_kernel(const ProductShape& shape, const Tile& large_tile,
                                                  bool for_cpu);
[[nodiscard]] ProductKernel tiled_kernel(const ProductShape& shape, const Tile& tile);

}  // namespace driftscope::webgpu
