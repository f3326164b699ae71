// Matrix products, and convolutions as such, on the shaders that suit their size and the device. Clients:
// operators/conv.cpp, operators/gemm.cpp.
#pragma once

#include <array>

#include "core/engines/webgpu/lowering.hpp"

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

/// Y (M x N) = A (M x K) · B (K x N), `batches` of them, + bias + addend, bounded.
struct Product {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batches = 1;
  BufferId a = no_buffer;
  BufferId b = no_buffer;
  BufferId bias = no_buffer;    ///< padded to four
  BufferId addend = no_buffer;  ///< of the same shape and layout as Y
  BufferId y = no_buffer;
  bool windows = false;    ///< A is an image; `values` say how it is walked
  bool a_vectors = false;  ///< four of A along K may be read at once
  bool b_packed = false;   ///< B from pack_matrix
  bool b_transposed = false;
  std::string a_batch = "0u";  ///< which matrix of A belongs to `batch`
  std::string b_batch = "0u";
  Clamp clamp;
  ShaderValues values = {};
};

/// Rows of a packed matrix: K in fours.
[[nodiscard]] inline std::int64_t in_fours(std::int64_t n) { return (n + 3) / 4 * 4; }

/// K x N as the shaders read constants: both padded with zeros to multiples of four. `at(k, n)` gives an
/// element.
template <class At>
[[nodiscard]] Result<Tensor> pack_matrix(std::int64_t k, std::int64_t n, const At& at) {
  DRIFTSCOPE_TRY(Tensor packed, Tensor::make(DType::float32, {in_fours(k), in_fours(n)}, "weights"));
  float* to = packed.mutable_values<float>().data();
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < n; ++j) to[i * in_fours(n) + j] = at(i, j);
  return packed;
}

/// Padded with zeros to four.
[[nodiscard]] Result<Tensor> pack_bias(std::span<const float> bias);

[[nodiscard]] Result<bool> emit_product(Lowering& lowering, Product product);

/// A program, and how often it runs.
struct ProductProgram {
  const char* file = "";
  ShaderValues values = {};
  std::array<std::uint32_t, 3> groups = {};
};
[[nodiscard]] ProductProgram tiled_program(const Product& product, const Tile& tile);

}  // namespace driftscope::webgpu
