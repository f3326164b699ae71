// Products and convolutions as such on the shaders that product_kernel.hpp chooses.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>

#include "core/engines/gpu/conv_parts.hpp"
#include "core/engines/webgl/lowering.hpp"
#include "core/engines/webgl/product_kernel.hpp"

namespace driftscope::webgl {
namespace {

// Each element of B to its place in `shape`.
template <class Place>
Result<Tensor> packed_b(const Product& product, Shape shape, const Place& place) {
  DRIFTSCOPE_TRY(Tensor packed, Tensor::make(DType::float32, std::move(shape), "weights"));
  float* const to = packed.mutable_values<float>().data();
  for (std::int64_t k = 0; k < product.k; ++k)
    for (std::int64_t n = 0; n < product.n; ++n) to[place(k, n)] = product.constant_b(k, n);
  return packed;
}

// Four rows of four columns side by side, as product.glsl reads them; both padded with zeros.
Result<Tensor> in_quads(const Product& product) {
  const std::int64_t columns = product.n / 4;
  return packed_b(product, {ceil_div(product.k, 4), columns, 4, 4},
                  [columns](std::int64_t k, std::int64_t n) {
                    return ((k / 4 * columns + n / 4) * 4 + k % 4) * 4 + n % 4;
                  });
}

Result<Tensor> row_after_row(const Product& product) {
  return packed_b(product, {product.k, product.n},
                  [&](std::int64_t k, std::int64_t n) { return k * product.n + n; });
}

Result<Tensor> transposed(const Product& product) {
  return packed_b(product, {product.n, product.k},
                  [&](std::int64_t k, std::int64_t n) { return n * product.k + k; });
}

// One pixel, and no padding: the channels are the rows of A.
bool is_pointwise(const Window2d& window) {
  const auto whole = [](const WindowAxis& axis) {
    return axis.kernel == 1 && axis.stride == 1 && axis.pad_begin == 0 && axis.output == axis.input;
  };
  return whole(window.height) && whole(window.width);
}

}  // namespace

Status Lowering::emit_vectors(const Product& product, const ProductKernel& kernel, ShaderValues values,
                              std::vector<BufferId> reads) {
  const Texels a = texels(product.a);
  const Texels y = texels(product.y);
  const std::int64_t rows = product.m * product.batches;
  const std::int64_t layer_rows = y.layer_texels / (product.n / 4);
  if (product.constant_b) {
    DRIFTSCOPE_TRY(Tensor packed, kernel.b_quads ? in_quads(product) : row_after_row(product));
    reads[1] = keep(std::move(packed));
  }
  values["N"] = product.n;
  values["ACTIVE"] = std::min<std::int64_t>(y.layers, ceil_div(rows, layer_rows));
  values["ROWS"] = rows;
  values["WINDOWS"] = kernel.windows ? 1 : 0;
  values["C"] = product.channels;
  values["IN_LAYER_TEXELS"] = a.layers == 1 ? 0 : a.layer_texels;
  values["A_VECTORS"] = kernel.a_vectors ? 1 : 0;
  values["B_QUADS"] = kernel.b_quads ? 1 : 0;
  values["SHARED_B"] = product.one_b ? 1 : 0;
  values["ADDS"] = product.addend == no_buffer ? 0 : 1;
  return emit_draw("webgl/product.glsl", std::move(values), std::move(reads), product.y);
}

Status Lowering::emit_padded(Product product, const ProductKernel& kernel, ShaderValues values,
                             std::vector<BufferId> reads) {
  const std::int64_t rows = product.m * product.batches;
  const std::int64_t n = product.n;
  const BufferId y = product.y;
  product.n = ceil_div(n, 4) * 4;
  // Rows of whole texels, as texels() counts them for scratch memory: one layer's texels belong to whole
  // rows.
  product.y = scratch_rows(rows, product.n / 4);
  product.constant_b = [b = product.constant_b, n](std::int64_t k, std::int64_t column) {
    return column < n ? b(k, column) : 0.0f;
  };
  DRIFTSCOPE_CHECK(emit_vectors(product, kernel, std::move(values), std::move(reads)));
  const GatherAxis of_rows{.size = rows, .stride = product.n};
  DRIFTSCOPE_TRY(const bool moved, emit_gather(product.y, y, {of_rows, {.size = n, .stride = 1}}));
  return moved ? Status() : internal_error("the columns of a product were not moved");
}

Status Lowering::emit_any(const Product& product, ShaderValues values, std::vector<BufferId> reads) {
  if (product.constant_b) {
    DRIFTSCOPE_TRY(Tensor packed, transposed(product));
    reads[1] = keep(std::move(packed));
  }
  values["B_ROWS"] = product.constant_b ? 1 : 0;
  values["B_TRANSPOSED"] = product.b_transposed ? 1 : 0;
  values["ELEMENTS"] = 1;
  values["COUNT"] = product.m * product.n * product.batches;
  return emit_draw("webgl/product_any.glsl", std::move(values), std::move(reads), product.y);
}

Result<bool> Lowering::emit_product(Product product) {
  const Texels a = texels(product.a);
  const ProductKernel kernel =
      choose_product_kernel({.n = product.n,
                             .k = product.k,
                             .run_of_a = product.run_of_a(),
                             .windows = product.window.has_value(),
                             .pointwise = product.window && is_pointwise(*product.window),
                             .constant_b = product.constant_b != nullptr,
                             .b_transposed = product.b_transposed,
                             .a_layers = a.layers,
                             .a_layer_texels = a.layer_texels,
                             .y_layer_texels = texels(product.y).layer_texels},
                            max_loops / (std::int64_t{4} * facts().layers));
  using Kind = ProductKernel::Kind;
  if (kernel.kind != Kind::texels && product.addend != no_buffer)
    return internal_error("a sum behind columns of an odd number");
  ShaderValues values = product.window ? window_values(*product.window) : ShaderValues();
  add_clamp(values, product.clamp);
  values["BIAS"] = product.bias.empty() ? 0 : 1;
  values["M"] = product.m;
  values["N"] = product.n;
  values["K"] = product.k;
  values["A_BATCH"] = product.a_batch;
  values["B_BATCH"] = product.b_batch;
  std::vector<BufferId> reads = {product.a, product.b};
  if (!product.bias.empty()) {
    DRIFTSCOPE_TRY(const BufferId bias, keep_padded(product.bias));
    reads.push_back(bias);
  }
  if (product.addend != no_buffer) reads.push_back(product.addend);
  if (kernel.kind == Kind::texels)
    DRIFTSCOPE_CHECK(emit_vectors(product, kernel, std::move(values), std::move(reads)));
  else if (kernel.kind == Kind::padded)
    DRIFTSCOPE_CHECK(emit_padded(std::move(product), kernel, std::move(values), std::move(reads)));
  else
    DRIFTSCOPE_CHECK(emit_any(product, std::move(values), std::move(reads)));
  return true;
}

}  // namespace driftscope::webgl
