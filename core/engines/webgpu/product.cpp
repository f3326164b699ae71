#include "core/engines/webgpu/product.hpp"

#include <algorithm>

namespace driftscope::webgpu {
namespace {

constexpr Tile small_tile = {"32x32-4x4", 32, 32, 16, 4, 4};

constexpr std::int64_t few_rows = 4;
constexpr std::int64_t min_tiles = 64;  // fewer would leave a GPU's processors idle

std::uint32_t u32(std::int64_t n) { return static_cast<std::uint32_t>(n); }
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

ProductProgram tiled(const Product& product, const Tile& tile) {
  return {"webgpu/product_tiled.wgsl",
          {{"BM", tile.bm},
           {"BN", tile.bn},
           {"BK", tile.bk},
           {"TM", tile.tm},
           {"TN", tile.tn},
           {"THREADS_X", tile.bn / tile.tn},
           {"THREADS_Y", tile.bm / tile.tm}},
          {u32(ceil_div(product.n, tile.bn)), u32(ceil_div(product.m, tile.bm)), u32(product.batches)}};
}

// Threads side by side read the same rows of A and neighbouring columns of B.
ProductProgram direct(const Product& product) {
  // Reading A one by one takes so much code that drivers compile several rows of it for seconds.
  const std::int64_t tm = !product.a_vectors || product.m < 2 ? 1 : product.m >= 4 ? 4 : 2;
  const bool b_vectors = product.b_packed || (!product.b_transposed && product.n % 4 == 0);
  const std::int64_t tn = product.n <= 4 || !b_vectors ? 4 : product.n > 8 && tm == 1 ? 16 : 8;
  const std::int64_t threads_x = std::min<std::int64_t>(ceil_div(product.n, tn), 8);
  const std::int64_t threads_y = std::max<std::int64_t>(1, 32 / threads_x);
  return {"webgpu/product_direct.wgsl",
          {{"TM", tm},
           {"TN", tn},
           {"THREADS_X", threads_x},
           {"THREADS_Y", threads_y},
           // Rows of K beyond the last exist only where they were padded.
           {"LOAD_B", std::string(product.b_packed || product.k % 4 == 0 ? "load_b_inside" : "load_b")}},
          {u32(ceil_div(product.n, tn * threads_x)), u32(ceil_div(product.m, tm * threads_y)),
           u32(product.batches)}};
}

ProductProgram row(const Product& product) {
  constexpr std::int64_t columns = 4;  // of four numbers
  constexpr std::int64_t slices = 16;
  return {"webgpu/product_row.wgsl",
          {{"COLUMNS", columns}, {"SLICES", slices}},
          {u32(ceil_div(product.n, 4 * columns)), u32(product.m), u32(product.batches)}};
}

ProductProgram choose(const Lowering& lowering, const Product& product) {
  const Tile& large_tile = lowering.large_tile();
  if (lowering.for_cpu()) return direct(product);
  if (product.m <= few_rows && product.k >= 64) return row(product);
  const auto tiles = [&](const Tile& tile) {
    return ceil_div(product.m, tile.bm) * ceil_div(product.n, tile.bn) * product.batches;
  };
  if (tiles(large_tile) >= min_tiles) return tiled(product, large_tile);
  if (product.m >= small_tile.bm / 2 && product.n >= small_tile.bn / 2) return tiled(product, small_tile);
  return direct(product);
}

// What depends on the product, not on how it is divided.
void add_values(ShaderValues& values, const Product& product) {
  values.insert(product.values.begin(), product.values.end());
  const bool b_vectors = product.b_packed || (!product.b_transposed && product.n % 4 == 0);
  values["M"] = product.m;
  values["N"] = product.n;
  values["K"] = product.k;
  values["WINDOWS"] = product.windows ? 1 : 0;
  values["A_VECTORS"] = product.a_vectors ? 1 : 0;
  values["B_VECTORS"] = b_vectors ? 1 : 0;
  values["B_TRANSPOSED"] = product.b_transposed ? 1 : 0;
  values["B_ROWS"] = product.b_packed ? in_fours(product.k) : product.k;
  values["A_BATCH"] = product.a_batch;
  values["B_BATCH"] = product.b_batch;
  values["BIAS"] = product.bias == no_buffer ? 0 : 1;
  values["ADDS"] = product.addend == no_buffer ? 0 : 1;
  values["CLAMPED"] = product.clamp.none() ? 0 : 1;
  values["CLAMP_MIN"] = float_text(product.clamp.min);
  values["CLAMP_MAX"] = float_text(product.clamp.max);
}

}  // namespace

Result<Tensor> pack_bias(std::span<const float> bias) {
  DRIFTSCOPE_TRY(Tensor packed, Tensor::make(DType::float32, {in_fours(std::ssize(bias))}, "a bias"));
  std::copy(bias.begin(), bias.end(), packed.mutable_values<float>().begin());
  return packed;
}

const Tile& Lowering::large_tile() const {
  return large_tile_ == nullptr ? large_tiles.front() : *large_tile_;
}

ProductProgram tiled_program(const Product& product, const Tile& tile) {
  ProductProgram program = tiled(product, tile);
  add_values(program.values, product);
  return program;
}

Result<bool> emit_product(Lowering& lowering, Product product) {
  ProductProgram choice = choose(lowering, product);
  add_values(choice.values, product);
  for (const std::uint32_t groups : choice.groups)
    if (groups > lowering.facts().max_groups)
      return limit_error("the GPU has too few workgroups for a product of this size");
  std::vector<BufferId> reads = {product.a, product.b};
  if (product.bias != no_buffer) reads.push_back(product.bias);
  if (product.addend != no_buffer) reads.push_back(product.addend);
  DRIFTSCOPE_CHECK(lowering.emit(choice.file, choice.values, std::move(reads), {product.y}, choice.groups));
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
  product.a_vectors = depth % 4 == 0;
  product.b_packed = true;
  DRIFTSCOPE_TRY(Tensor packed, pack_matrix(depth, columns, b));
  product.b = keep(std::move(packed));
  DRIFTSCOPE_TRY(Tensor packed_bias, pack_bias(bias));
  product.bias = keep(std::move(packed_bias));
  const BufferId y = product.y = scratch(static_cast<std::size_t>(rows * columns) * sizeof(float));
  DRIFTSCOPE_TRY(const bool done, emit_product(*this, std::move(product)));
  return done ? Result<BufferId>(y) : internal_error("a product with constants was not taken");
}

}  // namespace driftscope::webgpu
