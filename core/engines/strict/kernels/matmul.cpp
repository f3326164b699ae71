// MatMul on simd/gemm: every element of the product starts at +0 and adds a·b for k ascending.
// Batches are broadcast as the specification says; a single B serves all rows of a batched A at
// once.
#include <algorithm>

#include "core/engines/strict/kernel_table.hpp"
#include "core/engines/strict/matrix_product.hpp"
#include "core/ops/shared/broadcast.hpp"

namespace driftscope::strict::matmul {

// A[…, rows, depth] · B[…, depth, columns], with vectors turned into matrices as specified.
struct Sizes {
  Shape a_batch;
  Shape b_batch;
  Shape batch;  // broadcast
  std::int64_t rows = 1;
  std::int64_t depth = 1;
  std::int64_t columns = 1;
};

Shape leading(const Shape& shape, std::size_t dropped) {
  if (shape.size() <= dropped) return {};
  return Shape(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(dropped));
}

Sizes sizes_of(const Shape& a, const Shape& b, const Shape& y) {
  Sizes sizes;
  sizes.depth = a.back();
  if (a.size() > 1) sizes.rows = a[a.size() - 2];
  if (b.size() > 1) sizes.columns = b.back();
  sizes.a_batch = leading(a, 2);
  sizes.b_batch = leading(b, 2);
  sizes.batch = leading(y, (a.size() > 1 ? 1u : 0u) + (b.size() > 1 ? 1u : 0u));
  const std::int64_t batches = element_count(sizes.batch);
  if (element_count(sizes.b_batch) == 1 && element_count(sizes.a_batch) == batches) {
    sizes.rows *= batches;
    sizes.a_batch = sizes.b_batch = sizes.batch = {};
  }
  return sizes;
}

class MatMulKernel final : public StrictKernel {
 public:
  MatMulKernel(const StrictSite& site, Sizes sizes)
      : site_(site),
        sizes_(std::move(sizes)),
        kernels_(gemm_kernels(site.simd)),
        y_shape_(*site.output_shape()) {
    if (const Tensor* b = site.constant(1)) b_ = pack_b(*b);
  }

  [[nodiscard]] bool reads(std::size_t input) const override {
    return input != 1 || site_.constant(1) == nullptr;
  }

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    DRIFTSCOPE_TRY(Tensor y, Tensor::make(DType::float32, y_shape_, "output Y"));  // all +0
    if (site_.constant(1) == nullptr) b_ = pack_b(*inputs[1]);
    const float* a = inputs[0]->values<float>().data();
    float* out = y.mutable_values<float>().data();
    const std::array strides = {broadcast_strides(sizes_.a_batch, sizes_.batch),
                                broadcast_strides(sizes_.b_batch, sizes_.batch)};
    for (std::int64_t i = 0; i < element_count(sizes_.batch); ++i) {
      const auto at = offsets_at(i, std::span<const std::int64_t>(sizes_.batch), strides);
      const PackedRows rows(kernels_,
                            {.data = a + at[0] * sizes_.rows * sizes_.depth,
                             .rows = sizes_.rows,
                             .columns = sizes_.depth,
                             .row_step = sizes_.depth},
                            site_.threads);
      accumulate_product(kernels_, rows, b_[static_cast<std::size_t>(at[1])],
                         out + i * sizes_.rows * sizes_.columns, sizes_.columns, site_.threads);
    }
    std::vector<Tensor> outputs;
    outputs.push_back(std::move(y));
    return outputs;
  }

 private:
  std::vector<PackedColumns> pack_b(const Tensor& b) const {
    std::vector<PackedColumns> packed;
    if (b.rank() == 2) {
      packed.push_back(pack_weights(kernels_, {b}, site_.threads));
      return packed;
    }
    const float* values = b.values<float>().data();
    for (std::int64_t i = 0; i < element_count(sizes_.b_batch); ++i)
      packed.emplace_back(kernels_,
                          MatrixView{.data = values + i * sizes_.depth * sizes_.columns,
                                     .rows = sizes_.depth,
                                     .columns = sizes_.columns,
                                     .row_step = sizes_.columns},
                          site_.threads);
    return packed;
  }

  StrictSite site_;
  Sizes sizes_;
  GemmKernels kernels_;
  Shape y_shape_;
  std::vector<PackedColumns> b_;  // per matrix of B
};

std::unique_ptr<StrictKernel> prepare(const StrictSite& site) {
  if (!site.all_float32() || element_count(*site.output_shape()) == 0) return nullptr;
  return std::make_unique<MatMulKernel>(site, sizes_of(*site.shape(0), *site.shape(1), *site.output_shape()));
}

void add_to(StrictKernelTable& table) { table.add("MatMul", {.prepare = prepare, .packed = 1}); }

}  // namespace driftscope::strict::matmul
