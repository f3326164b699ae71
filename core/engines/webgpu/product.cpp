// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/webgpu/product.hpp"

#include "core/engines/gpu/conv_parts.hpp"
#include "core/engines/webgpu/lowering.hpp"

namespace driftscope::webgpu {
namespace {

std::int64_t in_fours(std::int64_t n) { return (n + 3) / 4 * 4; }

// K x N as the shaders read constants: both padded with zeros to multiples of four.
Result<Tensor> packed_b(const Product& product) {
  const std::int64_t columns = in_fours(product.n);
  DRIFTSCOPE_TRY(Tensor packed, Tensor::make(DType::float32, {in_fours(product.k), columns}, "weights"));
  float* const to = packed.mutable_values<float>().data();
  for (std::int64_t k = 0; k < product.k; ++k)
    for (std::int64_t n = 0; n < product.n; ++n) to[k * columns + n] = product.constant_b(k, n);
  return packed;
}

}  // namespace

std::string_view product_file(ProductKernel::Kind kind) {
  switch (kind) {
    case ProductKernel::Kind::tiled: return "webgpu/product_tiled.wgsl";
    case ProductKernel::Kind::row: return "webgpu/product_row.wgsl";
    default: return "webgpu/product_direct.wgsl";
  }
}

ShaderValues product_values(const Product& product, const ProductShape& shape, const ProductKernel& kernel) {
  const Tile& tile = kernel.tile;
  ShaderValues values = product.window ? window_values(*product.window) : ShaderValues();
  values["M"] = shape.m;
  values["N"] = shape.n;
  values["K"] = shape.k;
  values["C"] = product.channels;
  values["WINDOWS"] = product.window ? 1 : 0;
  values["A_VECTORS"] = shape.a_vectors ? 1 : 0;
  values["B_VECTORS"] = shape.b_vectors() ? 1 : 0;
  values["B_TRANSPOSED"] = shape.b_transposed ? 1 : 0;
  values["B_ROWS"] = shape.b_packed ? in_fours(shape.k) : shape.k;
  values["A_BATCH"] = product.a_batch;
  values["B_BATCH"] = product.b_batch;
  values["BM"] = tile.bm;
  values["BN"] = tile.bn;
  values["BK"] = tile.bk;
  values["TM"] = tile.tm;
  values["TN"] = tile.tn;
  values["THREADS_X"] = kernel.threads_x;
  values["THREADS_Y"] = kernel.threads_y;
  // Rows of K beyond the last exist only where they were padded.
  values["LOAD_B"] = std::string(shape.b_packed || shape.k % 4 == 0 ? "load_b_inside" : "load_b");
  return values;
}

Result<bool> Lowering::emit_product(Product product) {
  ProductShape shape{.m = product.m, .n = product.n, .k = product.k, .batches = product.batches};
  shape.a_vectors = product.run_of_a() % 4 == 0;
  shape.b_packed = product.constant_b != nullptr;
  shape.b_transposed = product.b_transposed;
  const ProductKernel kernel = choose_product_kernel(shape, *large_tile_, for_cpu());
  std::array<std::uint32_t, 3> groups = {};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (kernel.groups[i] > facts().max_groups)
      return limit_error("the GPU has too few workgroups for a product of this size");
    groups[i] = static_cast<std::uint32_t>(kernel.groups[i]);
  }
  ShaderValues values = product_values(product, shape, kernel);
  values["BIAS"] = product.bias.empty() ? 0 : 1;
  values["ADDS"] = product.addend == no_buffer ? 0 : 1;
  add_clamp(values, product.clamp);
  std::vector<BufferId> reads = {product.a, product.b};
  if (product.constant_b) {
    DRIFTSCOPE_TRY(Tensor packed, packed_b(product));
    reads[1] = keep(std::move(packed));
  }
  if (!product.bias.empty()) {
    DRIFTSCOPE_TRY(const BufferId bias, keep_padded(product.bias));
    reads.push_back(bias);
  }
  if (product.addend != no_buffer) reads.push_back(product.addend);
  DRIFTSCOPE_CHECK(emit(product_file(kernel.kind), values, std::move(reads), {product.y}, groups));
  return true;
}

}  // namespace driftscope::webgpu
