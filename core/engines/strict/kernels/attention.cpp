// The attention operators: their scalar kernels on the products of simd/gemm and the functions of
// simd/elementwise, which have the same bits.
#include <algorithm>

#include "core/engines/strict/kernel_table.hpp"
#include "core/engines/strict/matrix_product.hpp"
#include "core/engines/strict/simd/elementwise.hpp"
#include "core/eval/evaluate.hpp"
#include "core/eval/float_kernels.hpp"

namespace driftscope::strict::attention {

class VectorKernels final : public FloatKernels {
 public:
  VectorKernels(const SimdTarget& simd, ThreadPool& threads)
      : products_(gemm_kernels(simd)), functions_(elementwise_kernels(simd)), threads_(threads) {}

  void multiply(const FloatMatrix& a, const FloatMatrix& b, float* c) const override {
    std::fill_n(c, a.rows * b.columns, 0.0f);
    const PackedRows rows(products_, view(a), threads_);
    const PackedColumns columns(products_, view(b), threads_);
    accumulate_product(products_, rows, columns, c, b.columns, threads_);
  }
  void mul(const float* x, float s, float* y, std::size_t n) const override {
    functions_.mul_scalar(x, s, y, n);
  }
  void softcap(const float* x, float cap, float* y, std::size_t n) const override {
    functions_.div_scalar(x, cap, y, n);
    functions_.tanh(y, y, n);
    functions_.mul_scalar(y, cap, y, n);
  }
  float largest(const float* x, std::size_t n) const override { return functions_.largest(x, n); }
  void exp(const float* x, float shift, float* y, std::size_t n) const override {
    functions_.sub_scalar(x, shift, y, n);
    functions_.exp(y, y, n);
  }
  float sum(const float* x, std::size_t n) const override { return functions_.sum(x, n); }
  void div(const float* x, float s, float* y, std::size_t n) const override {
    functions_.div_scalar(x, s, y, n);
  }

 private:
  static MatrixView view(const FloatMatrix& of) {
    return {.data = of.data,
            .rows = of.rows,
            .columns = of.columns,
            .row_step = of.row_step,
            .column_step = of.column_step};
  }

  GemmKernels products_;
  ElementwiseKernels functions_;
  ThreadPool& threads_;
};

class AttentionKernel final : public StrictKernel {
 public:
  explicit AttentionKernel(const StrictSite& site) : site_(site), kernels_(site.simd, site.threads) {}

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    const FloatKernelsScope scope(kernels_);
    return evaluate_strict(site_.node, inputs, site_.threads);
  }

 private:
  StrictSite site_;
  VectorKernels kernels_;
};

std::unique_ptr<StrictKernel> prepare(const StrictSite& site) {
  for (std::size_t i = 0; i < site.node.inputs.size(); ++i)
    if (site.has_input(i) && is_floating(site.dtype(i)) && site.dtype(i) != DType::float32) return nullptr;
  return std::make_unique<AttentionKernel>(site);
}

void add_to(StrictKernelTable& table) {
  for (const char* const op : {"Attention", "com.microsoft.Attention", "com.microsoft.QAttention",
                               "com.microsoft.MultiHeadAttention", "com.microsoft.GroupQueryAttention"})
    table.add(op, prepare);
}

}  // namespace driftscope::strict::attention
