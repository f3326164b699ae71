// How a run of texels lies in a texture: in rows of a power of two, about as many as they are long. (GPUs and
// drivers that compute on the CPU shade squares of pixels; a single row leaves most of each square unused.)
// Clients: WebGL devices, the lowering to WebGL.
#pragma once

#include <cstdint>

namespace driftscope::gpu {

struct TextureExtent {
  std::int64_t width = 1;  ///< texels of a row
  std::int64_t height = 1;
  int width_bits = 0;  ///< width = 2^width_bits
};

/// For `texels` ≥ 0 of one layer.
[[nodiscard]] constexpr TextureExtent texture_extent(std::int64_t texels) {
  TextureExtent extent;
  while (extent.width * extent.width < texels) {
    extent.width *= 2;
    ++extent.width_bits;
  }
  extent.height = texels <= extent.width ? 1 : (texels + extent.width - 1) / extent.width;
  return extent;
}

/// Of an object that serves this many texels and every smaller number.
[[nodiscard]] constexpr TextureExtent shared_extent(std::int64_t texels) {
  TextureExtent extent = texture_extent(texels);
  // A smaller run of texels has rows of at most half the length, and at most as many of them.
  if (extent.height < extent.width / 2) extent.height = extent.width / 2;
  return extent;
}

inline constexpr std::int64_t texel_bytes = 16;  ///< four float32

/// Of each layer of an object of so many bytes.
[[nodiscard]] constexpr TextureExtent object_extent(std::int64_t bytes, int layers) {
  const std::int64_t texels = ((bytes + texel_bytes - 1) / texel_bytes + layers - 1) / layers;
  return layers > 1 ? shared_extent(texels) : texture_extent(texels);
}

/// Texels of a row of a value that takes so many bytes of each layer.
[[nodiscard]] constexpr std::int64_t row_texels(std::int64_t layer_bytes) {
  return texture_extent(layer_bytes / texel_bytes).width;
}

}  // namespace driftscope::gpu
