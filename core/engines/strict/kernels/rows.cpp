// Operators that treat contiguous rows one by one, on simd/elementwise: GlobalAveragePool, Softmax
// along the last axis, BatchNormalization with statistics per channel, LayerNormalization and
// RMSNormalization, also behind a sum (com.microsoft), Gelu behind a bias.
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

/// ((x − mean)·(1/√(variance + ε)))·scale + bias, or with 0 for the mean and without a bias.
struct NormalizeRow {
  float epsilon;
  bool centered;
  const float* scale = nullptr;
  const float* bias = nullptr;

  /// `y` may be `x`.
  void operator()(const ElementwiseKernels& kernels, const float* x, float* y, std::size_t size) const {
    const auto count = static_cast<float>(size);
    const float mean = centered ? kernels.sum(x, size) / count : 0.0f;
    const float variance = kernels.sum_squared_deviations(x, mean, size) / count;
    if (centered) kernels.sub_scalar(x, mean, y, size);
    kernels.mul_scalar(centered ? y : x, 1.0f / std::sqrt(variance + epsilon), y, size);
    kernels.mul(y, scale, y, size);
    if (bias != nullptr)
      kernels.add(y, bias, y, size);
    else if (centered)
      kernels.add_scalar(y, 0.0f, y, size);  // −0 becomes +0, as in the scalar kernel
  }
};

const float* data_of(std::span<const Tensor* const> inputs, std::size_t i) {
  return i < inputs.size() && inputs[i] != nullptr ? inputs[i]->values<float>().data() : nullptr;
}

class LayerNormalizationKernel final : public RowKernel {
 public:
  LayerNormalizationKernel(const StrictSite& site, std::int64_t size, NormalizeRow normalize)
      : RowKernel(site, size), normalize_(normalize) {}

 private:
  void before(std::span<const Tensor* const> inputs) override {
    normalize_.scale = data_of(inputs, 1);
    normalize_.bias = data_of(inputs, 2);
  }
  void row(std::int64_t /*index*/, const float* x, float* y) const override {
    normalize_(kernels_, x, y, size());
  }

  NormalizeRow normalize_;
};

constexpr std::size_t no_input = ~std::size_t{0};

struct SkipInputs {
  std::size_t gamma;
  std::size_t beta;
  std::size_t bias;
};

/// Skip is repeated over the batch. Output 3, where it is wanted, is the sum.
class SkipNormalizationKernel final : public StrictKernel {
 public:
  SkipNormalizationKernel(const StrictSite& site, SkipInputs at, NormalizeRow normalize)
      : site_(site), at_(at), normalize_(normalize), kernels_(elementwise_kernels(site.simd)) {}

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    std::vector<Tensor> outputs(site_.node.outputs.size());
    const Shape& shape = inputs[0]->shape();
    DRIFTSCOPE_TRY(outputs[0], Tensor::make(DType::float32, shape, "output 0"));
    const bool wanted = outputs.size() > 3 && site_.node.outputs[3] != no_value;
    if (wanted) {
      DRIFTSCOPE_TRY(outputs[3], Tensor::make(DType::float32, shape, "output 3 (the sum)"));
    }
    float* y = outputs[0].mutable_values<float>().data();
    float* sums = wanted ? outputs[3].mutable_values<float>().data() : y;
    const float* x = data_of(inputs, 0);
    const float* skip = data_of(inputs, 1);
    const float* bias = data_of(inputs, at_.bias);
    normalize_.scale = data_of(inputs, at_.gamma);
    normalize_.bias = data_of(inputs, at_.beta);
    const std::int64_t size = shape.back();
    const std::int64_t skips = inputs[1]->elements() / size;
    const auto count = static_cast<std::size_t>(size);
    site_.threads.parallel_for(inputs[0]->elements() / size,
                               std::max<std::int64_t>(1, floats_per_chunk / size),
                               [&](std::int64_t begin, std::int64_t end) {
                                 for (std::int64_t i = begin; i < end; ++i) {
                                   float* sum = sums + i * size;
                                   kernels_.add(x + i * size, skip + i % skips * size, sum, count);
                                   if (bias != nullptr) kernels_.add(sum, bias, sum, count);
                                   normalize_(kernels_, sum, y + i * size, count);
                                 }
                               });
    return outputs;
  }

 private:
  StrictSite site_;
  SkipInputs at_;
  NormalizeRow normalize_;
  ElementwiseKernels kernels_;
};

class GeluKernel final : public RowKernel {
 public:
  GeluKernel(const StrictSite& site, std::int64_t size, ElementwiseKernels::Unary gelu)
      : RowKernel(site, size), gelu_(gelu) {}

 private:
  void before(std::span<const Tensor* const> inputs) override { bias_ = data_of(inputs, 1); }
  void row(std::int64_t /*index*/, const float* x, float* y) const override {
    if (bias_ != nullptr) kernels_.add(x, bias_, y, size());
    gelu_(bias_ == nullptr ? x : y, y, size());
  }

  ElementwiseKernels::Unary gelu_;
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

template <bool centered>
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
  return std::make_unique<LayerNormalizationKernel>(site, size, NormalizeRow{*epsilon, centered});
}

template <bool centered>
std::unique_ptr<StrictKernel> prepare_skip_normalization(const StrictSite& site) {
  const SkipInputs at = centered ? SkipInputs{2, 3, 4} : SkipInputs{2, no_input, 3};
  std::vector<ValueId> values = site.node.inputs;
  const std::vector<ValueId>& outputs = site.node.outputs;
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    if (i < outputs.size() && outputs[i] != no_value) return nullptr;  // mean, 1/deviation
  values.push_back(outputs[0]);
  if (outputs.size() > 3) values.push_back(outputs[3]);
  for (const ValueId id : values) {
    if (id == no_value) continue;
    const auto shape = site.graph.values[id].static_shape();
    if (site.graph.values[id].dtype != DType::float32 || !shape || element_count(*shape) == 0) return nullptr;
  }
  const auto epsilon = float_attribute(site.node, "epsilon", 1e-12f);
  if (!epsilon.ok() || outputs[0] == no_value) return nullptr;
  return std::make_unique<SkipNormalizationKernel>(site, at, NormalizeRow{*epsilon, centered});
}

template <ElementwiseKernels::Unary ElementwiseKernels::* gelu>
std::unique_ptr<StrictKernel> prepare_gelu(const StrictSite& site) {
  if (!takes(site) || site.shape(0)->empty()) return nullptr;
  return std::make_unique<GeluKernel>(site, site.shape(0)->back(), elementwise_kernels(site.simd).*gelu);
}

void add_to(StrictKernelTable& table) {
  table.add("GlobalAveragePool", prepare_global_average);
  table.add("Softmax", prepare_softmax);
  table.add("BatchNormalization", prepare_batch_normalization);
  table.add("LayerNormalization", prepare_layer_normalization<true>);
  table.add("RMSNormalization", prepare_layer_normalization<false>);
  table.add("SimplifiedLayerNormalization", prepare_layer_normalization<false>);
  table.add("com.microsoft.SkipLayerNormalization", prepare_skip_normalization<true>);
  table.add("com.microsoft.SkipSimplifiedLayerNormalization", prepare_skip_normalization<false>);
  table.add("com.microsoft.BiasGelu", prepare_gelu<&ElementwiseKernels::gelu>);
  table.add("com.microsoft.FastGelu", prepare_gelu<&ElementwiseKernels::gelu_tanh>);
}

}  // namespace driftscope::strict::rows
