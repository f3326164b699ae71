#include "core/engines/webgl/product.hpp"

#include <algorithm>

namespace driftscope::webgl {
namespace {

// Four rows of four columns side by side, as product.glsl reads them; both padded with zeros.
Result<Tensor> in_quads(const Product& product) {
  const std::int64_t rows = ceil_div(product.k, 4);
  const std::int64_t columns = product.n / 4;
  DRIFTSCOPE_TRY(Tensor packed, Tensor::make(DType::float32, {rows, columns, 4, 4}, "weights"));
  float* to = packed.mutable_values<float>().data();
  for (std::int64_t k = 0; k < product.k; ++k)
    for (std::int64_t n = 0; n < product.n; ++n)
      to[((k / 4 * columns + n / 4) * 4 + k % 4) * 4 + n % 4] = product.constant_b(k, n);
  return packed;
}

Result<Tensor> row_after_row(const Product& product) {
  DRIFTSCOPE_TRY(Tensor packed, Tensor::make(DType::float32, {product.k, product.n}, "weights"));
  float* to = packed.mutable_values<float>().data();
  for (std::int64_t k = 0; k < product.k; ++k)
    for (std::int64_t n = 0; n < product.n; ++n) *to++ = product.constant_b(k, n);
  return packed;
}

Result<Tensor> transposed(const Product& product) {
  DRIFTSCOPE_TRY(Tensor packed, Tensor::make(DType::float32, {product.n, product.k}, "weights"));
  float* to = packed.mutable_values<float>().data();
  for (std::int64_t n = 0; n < product.n; ++n)
    for (std::int64_t k = 0; k < product.k; ++k) *to++ = product.constant_b(k, n);
  return packed;
}

Status emit_vectors(Lowering& lowering, Product& product, std::vector<BufferId> reads) {
  const Texels a = lowering.texels(product.a);
  const Texels y = lowering.texels(product.y);
  const std::int64_t rows = product.m * product.batches;
  const std::int64_t layer_rows = y.layer_texels / (product.n / 4);
  const std::int64_t along = product.windows ? product.channels : product.k;
  // Every texel of a pixel in one layer.
  const bool whole = a.layers == 1 || a.layer_texels % std::max<std::int64_t>(along / 4, 1) == 0;
  const bool a_vectors = along % 4 == 0 && (!product.windows || whole);
  const bool quads = product.constant_b != nullptr && (!product.windows || a_vectors);
  if (product.constant_b) {
    DRIFTSCOPE_TRY(Tensor packed, quads ? in_quads(product) : row_after_row(product));
    reads[1] = lowering.keep(std::move(packed));
  }
  ShaderValues& values = product.values;
  values["ACTIVE"] = std::min<std::int64_t>(y.layers, ceil_div(rows, layer_rows));
  values["ROWS"] = rows;
  values["WINDOWS"] = product.windows ? 1 : 0;
  values["C"] = product.channels;
  values["IN_LAYER_TEXELS"] = a.layers == 1 ? 0 : a.layer_texels;
  values["A_VECTORS"] = a_vectors ? 1 : 0;
  values["B_QUADS"] = quads ? 1 : 0;
  values["SHARED_B"] = product.one_b ? 1 : 0;
  values["ADDS"] = product.addend == no_buffer ? 0 : 1;
  return lowering.emit_draw("webgl/product.glsl", std::move(values), std::move(reads), product.y);
}

// Columns in fours, of which the last are left out again.
Status emit_padded(Lowering& lowering, Product& product, std::vector<BufferId> reads) {
  const std::int64_t rows = product.m * product.batches;
  const std::int64_t n = product.n;
  const BufferId y = product.y;
  product.n = ceil_div(n, 4) * 4;
  // Rows of whole texels, as texels() counts them for scratch memory: one layer's texels belong to whole
  // rows.
  product.y = lowering.scratch_rows(rows, product.n / 4);
  product.constant_b = [b = product.constant_b, n](std::int64_t k, std::int64_t column) {
    return column < n ? b(k, column) : 0.0f;
  };
  product.values["N"] = product.n;
  const std::int64_t padded = product.n;
  const BufferId from = product.y;
  DRIFTSCOPE_CHECK(emit_vectors(lowering, product, std::move(reads)));
  DRIFTSCOPE_TRY(const bool moved, lowering.emit_walk(from, y, {{rows, {padded}}, {n, {1}}}));
  return moved ? Status() : internal_error("the columns of a product were not moved");
}

Status emit_any(Lowering& lowering, Product& product, std::vector<BufferId> reads) {
  if (product.constant_b) {
    DRIFTSCOPE_TRY(Tensor packed, transposed(product));
    reads[1] = lowering.keep(std::move(packed));
  }
  ShaderValues& values = product.values;
  values["B_ROWS"] = product.constant_b ? 1 : 0;
  values["B_TRANSPOSED"] = product.b_transposed ? 1 : 0;
  values["ELEMENTS"] = 1;
  values["COUNT"] = product.m * product.n * product.batches;
  return lowering.emit_draw("webgl/product_any.glsl", std::move(values), std::move(reads), product.y);
}

}  // namespace

Result<BufferId> keep_padded(Lowering& lowering, std::span<const float> values) {
  DRIFTSCOPE_TRY(Tensor packed,
                 Tensor::make(DType::float32, {ceil_div(std::ssize(values), 4) * 4}, "a constant"));
  std::copy(values.begin(), values.end(), packed.mutable_values<float>().begin());
  return lowering.keep(std::move(packed));
}

void add_result_values(ShaderValues& values, bool bias, const Clamp& clamp) {
  values["BIAS"] = bias ? 1 : 0;
  values["CLAMPED"] = clamp.none() ? 0 : 1;
  values["CLAMP_MIN"] = float_text(clamp.min);
  values["CLAMP_MAX"] = float_text(clamp.max);
}

Result<bool> emit_product(Lowering& lowering, Product product) {
  ShaderValues& values = product.values;
  add_result_values(values, !product.bias.empty(), product.clamp);
  values["M"] = product.m;
  values["N"] = product.n;
  values["K"] = product.k;
  values["A_BATCH"] = product.a_batch;
  values["B_BATCH"] = product.b_batch;
  std::vector<BufferId> reads = {product.a, product.b};
  if (!product.bias.empty()) {
    DRIFTSCOPE_TRY(const BufferId bias, keep_padded(lowering, product.bias));
    reads.push_back(bias);
  }
  if (product.addend != no_buffer) reads.push_back(product.addend);
  const Texels y = lowering.texels(product.y);
  const bool vectors = product.n % 4 == 0 && !product.b_transposed && y.layer_texels % (product.n / 4) == 0;
  if (!vectors && product.addend != no_buffer) return internal_error("a sum behind columns of an odd number");
  const bool rows_of_b = product.constant_b && product.k % 4 == 0;
  if (vectors)
    DRIFTSCOPE_CHECK(emit_vectors(lowering, product, std::move(reads)));
  else if (product.windows ||
           (product.constant_b && !lowering.may_loop(rows_of_b ? product.k / 4 : product.k)))
    DRIFTSCOPE_CHECK(emit_padded(lowering, product, std::move(reads)));
  else
    DRIFTSCOPE_CHECK(emit_any(lowering, product, std::move(reads)));
  return true;
}

Result<BufferId> Lowering::emit_constant_product(BufferId a, std::int64_t rows, std::int64_t depth,
                                                 std::int64_t columns, const gpu::MatrixElement& b,
                                                 std::span<const float> bias) {
  Product product;
  product.m = rows;
  product.k = depth;
  product.n = columns;
  product.a = a;
  product.constant_b = b;
  product.bias = bias;
  const BufferId y = product.y = scratch_rows(rows, columns / 4);
  DRIFTSCOPE_TRY(const bool done, emit_product(*this, std::move(product)));
  return done ? Result<BufferId>(y) : internal_error("a product with constants was not taken");
}

}  // namespace driftscope::webgl
