// Winograd's convolution (core/numerics/winograd.hpp) of an image in NHWC. Three kernels: input tiles d →
// V = Bᵀ d B; M = V·U by matrix products, one for each of the n×n elements of a transformed tile; M → output
// tiles AᵀMA. Client: winograd.cpp.
#pragma once

#include <array>
#include <cstddef>

#include "core/engines/strict/simd/target.hpp"

namespace driftscope::fast {

/// One tile, all channels. V: an element of the transformed tile has `channels` floats, the next one
/// begins `element` floats later.
struct WinogradInput {
  const float* const* pixels = nullptr;  ///< n×n, each at its first channel; zeros outside of the image
  std::size_t channels = 0;              ///< at least a vector's
  float* v = nullptr;
  std::size_t element = 0;
};

/// m[t][k] = Σ v[t][c]·u[c][k] for one element of all tiles. U lies in panels of WinogradKernels::columns
/// outputs: [panels][depth][columns]; so does a row of M.
struct WinogradProduct {
  const float* v = nullptr;
  std::size_t v_row = 0;  ///< floats from one tile to the next
  const float* u = nullptr;
  float* m = nullptr;
  std::size_t m_row = 0;
  std::size_t tiles = 0;
  std::size_t depth = 0;
  std::size_t panels = 0;
};

/// One tile, all outputs.
struct WinogradOutput {
  const float* m = nullptr;
  std::size_t element = 0;                ///< floats from one element of the tile to the next
  float* const* pixels = nullptr;         ///< of the output tile, each at its first channel; null: not there
  const float* const* addends = nullptr;  ///< one for each pixel; null: none are added
  std::size_t channels = 0;               ///< at least a vector's
  const float* bias = nullptr;            ///< `channels` long
  float min = 0.0f;
  float max = 0.0f;
};

using WinogradInputKernel = void (*)(const WinogradInput& it);
using WinogradProductKernel = void (*)(const WinogradProduct& it);
/// Whether all outputs are finite before the addends.
using WinogradOutputKernel = bool (*)(const WinogradOutput& it);

/// n: the width of an input tile; m: of an output tile. A kernel of r×r elements has n = m + r − 1.
struct WinogradKernels {
  std::size_t lanes = 0;    ///< floats of a vector
  std::size_t rows = 0;     ///< tiles that the product computes together
  std::size_t columns = 0;  ///< outputs of a panel
  WinogradProductKernel product = nullptr;
  /// Null where there is none for that width: 4, 6 and 8.
  [[nodiscard]] WinogradInputKernel input(std::size_t n) const { return inputs[n]; }
  /// Null where there is none: (4, 2), (6, 4), (6, 2), (8, 4).
  [[nodiscard]] WinogradOutputKernel output(std::size_t n, std::size_t m) const { return outputs[n][m]; }

  std::array<WinogradInputKernel, 9> inputs = {};
  std::array<std::array<WinogradOutputKernel, 5>, 9> outputs = {};
};

[[nodiscard]] WinogradKernels winograd_kernels(const SimdTarget& target);

}  // namespace driftscope::fast
