// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/webgl/product_kernel.hpp"

#include <algorithm>

namespace driftscope::webgl {
namespace {

ProductKernel of_texels(const ProductShape& shape, ProductKernel::Kind kind) {
  ProductKernel kernel;
  kernel.kind = kind;
  kernel.windows = shape.windows && !(shape.pointwise && shape.n % 4 == 0);
  const std::int64_t run = kernel.windows ? shape.run_of_a : shape.k;
  // Every texel of a pixel in one layer.
  const bool whole = shape.a_layers == 1 || shape.a_layer_texels % std::max<std::int64_t>(run / 4, 1) == 0;
  kernel.a_vectors = run % 4 == 0 && (!kernel.windows || whole);
  kernel.b_quads = shape.constant_b && (!kernel.windows || kernel.a_vectors);
  return kernel;
}

}  // namespace

ProductKernel choose_product_kernel(const ProductShape& shape, std::int64_t loops) {
  const bool in_fours = shape.n % 4 == 0 && !shape.b_transposed && shape.y_layer_texels % (shape.n / 4) == 0;
  if (in_fours) return of_texels(shape, ProductKernel::Kind::texels);
  const std::int64_t steps = shape.constant_b && shape.k % 4 == 0 ? shape.k / 4 : shape.k;
  const bool windows = shape.windows && !(shape.pointwise && shape.n % 4 == 0);
  if (windows || (shape.constant_b && steps > loops)) return of_texels(shape, ProductKernel::Kind::padded);
  return {};
}

}  // namespace driftscope::webgl
