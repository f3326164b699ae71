// Operators that treat contiguous rows one by one, on simd/elementwise: GlobalAveragePool, Softmax
// along the last axis, BatchNormalization with statistics per channel, LayerNormalization.
#include <algorithm>
#include <cmath>

#include "core/engines/strict/kernel_table.hpp"
#include "core/engines/strict/simd/elementwise.hpp"
#include "core/graph/attributes.hpp"
#include "core/ops/shared/reduction.hpp"

namespace driftscope::strict::rows {

constexpr std::int64_t floats_per_chunk = 16384;  // worth a separate task

/// One output of known shape; `rows` rows of `size` floats in x, one after another.
class RowKernel : public StrictKernel {
 public:
  RowKernel(const StrictSite& site, std::int64_t size)
      : kernels_(elementwise_kernels(site.simd)),
        size_(size),
        threads_(site.threads),
        y_shape_(*site.output_shape()) {}

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) final {
    DRIFTSCOPE_TRY(Tensor y, Tensor::make(DType::float32, y_shape_, "output Y"));
    before(inputs);
    const float* x = inputs[0]->values<float>().data();
    float* out = y.mutable_values<float>().data();
    const std::int64_t rows = inputs[0]->elements() / size_;
    const std::int64_t y_step = y.elements() / rows;
    threads_.parallel_for(rows, std::max<std::int64_t>(1, floats_per_chunk / size_),
                          [&](std::int64_t begin, std::int64_t end) {
                            for (std::int64_t i = begin; i < end; ++i)
                              row(i, x + i * size_, out + i * y_step);
                          });
    std::vector<Tensor> outputs;
    outputs.push_back(std::move(y));
    return outputs;
  }

 protected:
  virtual void before(std::span<const Tensor* const> /*inputs*/) {}
  virtual void row(std::int64_t index, const float* x, float* y) const = 0;
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(size_); }

  ElementwiseKernels kernels_;

 private:
  std::int64_t size_;
  ThreadPool& threads_;
  Shape y_shape_;
};

class GlobalAveragePoolKernel final : public RowKernel {
 public:
  using RowKernel::RowKernel;

 private:
  void row(std::int64_t /*index*/, const float* x, float* y) const override {
    *y = kernels_.sum(x, size()) / static_cast<float>(size());
  }
};

class SoftmaxKernel final : public RowKernel {
 public:
  using RowKernel::RowKernel;

 private:
  void row(std::int64_t /*index*/, const float* x, float* y) const override {
    kernels_.sub_scalar(x, kernels_.largest(x, size()), y, size());
    kernels_.exp(y, y, size());
    kernels_.div_scalar(y, kernels_.sum(y, size()), y, size());
  }
};

class BatchNormalizationKernel final : public RowKernel {
 public:
  BatchNormalizationKernel(const StrictSite& site, std::int64_t plane, std::int64_t channels, float epsilon)
      : RowKernel(site, plane),
        epsilon_(epsilon),
        a_(static_cast<std::size_t>(channels)),
        b_(static_cast<std::size_t>(channels)) {}

 private:
  void before(std::span<const Tensor* const> inputs) override {
    for (std::size_t c = 0; c < a_.size(); ++c) {
      const auto parameter = [&](std::size_t i) { return inputs[i]->values<float>()[c]; };
      a_[c] = parameter(1) / std::sqrt(parameter(4) + epsilon_);
      b_[c] = parameter(2) - parameter(3) * a_[c];
    }
  }
  void row(std::int64_t index, const float* x, float* y) const override {
    const std::size_t c = static_cast<std::size_t>(index) % a_.size();
    kernels_.scale_shift(x, a_[c], b_[c], y, size());
  }

  float epsilon_;
  std::vector<float> a_;
  std::vector<float> b_;
};

class LayerNormalizationKernel final : public RowKernel {
 public:
  LayerNormalizationKernel(const StrictSite& site, std::int64_t size, float epsilon)
      : RowKernel(site, size), epsilon_(epsilon) {}

 private:
  void before(std::span<const Tensor* const> inputs) override {
    scale_ = inputs[1]->values<float>().data();
    bias_ = inputs.size() > 2 && inputs[2] != nullptr ? inputs[2]->values<float>().data() : nullptr;
  }
  void row(std::int64_t /*index*/, const float* x, float* y) const override {
    const auto count = static_cast<float>(size());
    const float mean = kernels_.sum(x, size()) / count;
    const float variance = kernels_.sum_squared_deviations(x, mean, size()) / count;
    kernels_.sub_scalar(x, mean, y, size());
    kernels_.mul_scalar(y, 1.0f / std::sqrt(variance + epsilon_), y, size());
    kernels_.mul(y, scale_, y, size());
    if (bias_ != nullptr)
      kernels_.add(y, bias_, y, size());
    else
      kernels_.add_scalar(y, 0.0f, y, size());  // −0 becomes +0, as in the scalar kernel
  }

  float epsilon_;
  const float* scale_ = nullptr;
  const float* bias_ = nullptr;
};

bool takes(const StrictSite& site) {
  return site.all_float32() && element_count(*site.output_shape()) > 0 && element_count(*site.shape(0)) > 0;
}

std::unique_ptr<StrictKernel> prepare_global_average(const StrictSite& site) {
  if (!takes(site)) return nullptr;
  const std::int64_t plane = element_count(*site.shape(0)) / element_count(*site.output_shape());
  return std::make_unique<GlobalAveragePoolKernel>(site, plane);
}

std::unique_ptr<StrictKernel> prepare_softmax(const StrictSite& site) {
  if (!takes(site)) return nullptr;
  const Shape shape = *site.shape(0);
  const bool one_axis = site.node.opset >= 13;
  const auto given = int_attribute(site.node, "axis", one_axis ? -1 : 1);
  if (!given.ok()) return nullptr;
  const auto axis = normalize_axis(*given, shape.size());
  if (!axis.ok()) return nullptr;
  const auto from_axis = std::span(shape).subspan(*axis);
  // Before opset 13 all axes from `axis` on are one row; after it only that axis is.
  if (one_axis && element_count(from_axis.subspan(1)) != 1) return nullptr;
  return std::make_unique<SoftmaxKernel>(site, element_count(from_axis));
}

std::unique_ptr<StrictKernel> prepare_batch_normalization(const StrictSite& site) {
  if (!takes(site)) return nullptr;
  const Shape shape = *site.shape(0);
  const auto epsilon = float_attribute(site.node, "epsilon", 1e-5f);
  const auto spatial = flag_attribute(site.node, "spatial", true);  // until opset 8
  if (!epsilon.ok() || !spatial.ok() || (site.node.opset < 9 && !*spatial)) return nullptr;
  const std::int64_t channels = shape.size() < 2 ? 1 : shape[1];
  return std::make_unique<BatchNormalizationKernel>(site, element_count(shape) / (shape[0] * channels),
                                                    channels, *epsilon);
}

std::unique_ptr<StrictKernel> prepare_layer_normalization(const StrictSite& site) {
  if (!takes(site) || !site.has_input(1)) return nullptr;
  const Shape shape = *site.shape(0);
  const auto epsilon = float_attribute(site.node, "epsilon", 1e-5f);
  const auto given = int_attribute(site.node, "axis", -1);
  if (!epsilon.ok() || !given.ok()) return nullptr;
  const auto axis = normalize_axis(*given, shape.size());
  if (!axis.ok()) return nullptr;
  const std::int64_t size = element_count(std::span(shape).subspan(*axis));
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    if (site.has_input(i) && !fits_lane(*site.shape(i), shape, *axis)) return nullptr;
  return std::make_unique<LayerNormalizationKernel>(site, size, *epsilon);
}

void add_to(StrictKernelTable& table) {
  table.add("GlobalAveragePool", prepare_global_average);
  table.add("Softmax", prepare_softmax);
  table.add("BatchNormalization", prepare_batch_normalization);
  table.add("LayerNormalization", prepare_layer_normalization);
}

}  // namespace driftscope::strict::rows
