// Which shader computes a product on WebGL, and how it reads its operands. Clients: product.cpp, tests. Pure:
// it knows shapes, no buffers.
#pragma once

#include <cstdint>

namespace driftscope::webgl {

/// What the choice depends on. Texels are those of a layer: `*_layer_texels` of a value that is divided, and
/// whole pixels or rows of it lie in one layer.
struct ProductShape {
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t run_of_a = 0;  ///< numbers of A side by side along K
  bool windows = false;       ///< A is an image
  bool pointwise = false;     ///< its windows are its pixels
  bool constant_b = false;
  bool b_transposed = false;
  int a_layers = 1;
  std::int64_t a_layer_texels = 1;
  std::int64_t y_layer_texels = 1;
};

struct ProductKernel {
  enum class Kind : std::uint8_t {
    texels,  ///< product.glsl: four columns of one row of each layer at once
    padded,  ///< the same with columns up to a multiple of four, which are left out again
    any,     ///< product_any.glsl: one element after the other
  };
  Kind kind = Kind::any;
  bool windows = false;    ///< of texels: A is walked in windows
  bool a_vectors = false;  ///< of texels: four of A along K at once
  bool b_quads = false;    ///< of texels: B packed as four rows of four columns

  bool operator==(const ProductKernel&) const = default;
};

/// `loops`: how often a shader may loop for an element.
[[nodiscard]] ProductKernel choose_product_kernel(const ProductShape& shape, std::int64_t loops);

}  // namespace driftscope::webgl
