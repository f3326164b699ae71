// Gemm on simd/gemm. With alpha = beta = 1 the accumulators start at C, otherwise at +0, and
// Y = (sum · alpha) + (beta · C), where a factor of 1 is not applied (core/ops/gemm.cpp).
#include <algorithm>

#include "core/engines/strict/kernel_table.hpp"
#include "core/engines/strict/matrix_product.hpp"
#include "core/graph/attributes.hpp"
#include "core/ops/shared/broadcast.hpp"

namespace driftscope::strict::gemm {

struct Attributes {
  bool trans_a;
  bool trans_b;
  float alpha;
  float beta;
};

MatrixView view(const float* data, const Shape& shape, bool transposed) {
  if (transposed) return {data, shape[1], shape[0], 1, shape[1]};
  return {data, shape[0], shape[1], shape[1], 1};
}

class GemmKernel final : public StrictKernel {
 public:
  GemmKernel(const StrictSite& site, const Attributes& attributes)
      : site_(site),
        attributes_(attributes),
        kernels_(gemm_kernels(site.simd)),
        y_shape_(*site.output_shape()) {
    if (const Tensor* b = site.constant(1)) b_ = pack_b(*b);
  }

  [[nodiscard]] bool reads(std::size_t input) const override {
    return input != 1 || site_.constant(1) == nullptr;
  }

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    DRIFTSCOPE_TRY(Tensor y, Tensor::make(DType::float32, y_shape_, "output Y"));
    const bool has_c = inputs.size() > 2 && inputs[2] != nullptr && attributes_.beta != 0.0f;
    const bool starts_at_c = attributes_.alpha == 1.0f && attributes_.beta == 1.0f;
    const std::span<float> out = y.mutable_values<float>();
    if (has_c && starts_at_c) for_each_c(*inputs[2], out, [](float& sum, float c) { sum = c; });
    if (site_.constant(1) == nullptr) b_ = pack_b(*inputs[1]);
    const PackedRows a(kernels_,
                       view(inputs[0]->values<float>().data(), inputs[0]->shape(), attributes_.trans_a),
                       site_.threads);
    accumulate_product(kernels_, a, b_, out.data(), y_shape_[1], site_.threads);
    if (attributes_.alpha != 1.0f)
      for (float& sum : out) sum = sum * attributes_.alpha;
    if (has_c && !starts_at_c)
      for_each_c(*inputs[2], out, [beta = attributes_.beta](float& sum, float c) {
        sum = sum + (beta == 1.0f ? c : beta * c);
      });
    std::vector<Tensor> outputs;
    outputs.push_back(std::move(y));
    return outputs;
  }

 private:
  PackedColumns pack_b(const Tensor& b) const {
    return pack_weights(kernels_, {b, attributes_.trans_b}, site_.threads);
  }

  template <class Apply>
  void for_each_c(const Tensor& c, std::span<float> out, const Apply& apply) const {
    const Shape strides = broadcast_strides(c.shape(), y_shape_);
    const float* values = c.values<float>().data();
    for (std::int64_t i = 0; i < y_shape_[0]; ++i)
      for (std::int64_t j = 0; j < y_shape_[1]; ++j)
        apply(out[static_cast<std::size_t>(i * y_shape_[1] + j)], values[i * strides[0] + j * strides[1]]);
  }

  StrictSite site_;
  Attributes attributes_;
  GemmKernels kernels_;
  Shape y_shape_;
  PackedColumns b_;
};

std::unique_ptr<StrictKernel> prepare(const StrictSite& site) {
  if (!site.all_float32() || element_count(*site.output_shape()) == 0) return nullptr;
  const auto trans_a = int_attribute(site.node, "transA", 0);
  const auto trans_b = int_attribute(site.node, "transB", 0);
  const auto alpha = float_attribute(site.node, "alpha", 1.0f);
  const auto beta = float_attribute(site.node, "beta", 1.0f);
  if (!trans_a.ok() || !trans_b.ok() || !alpha.ok() || !beta.ok()) return nullptr;
  return std::make_unique<GemmKernel>(site, Attributes{*trans_a != 0, *trans_b != 0, *alpha, *beta});
}

void add_to(StrictKernelTable& table) { table.add("Gemm", {.prepare = prepare, .packed = 1}); }

}  // namespace driftscope::strict::gemm
