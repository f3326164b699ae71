// QuantizeLinear and DequantizeLinear between float32 and 8 bits, one scale for the tensor or for each
// slice of an axis; DynamicQuantizeLinear. All on simd/quantize.
#include <algorithm>

#include "core/engines/strict/kernel_table.hpp"
#include "core/engines/strict/simd/quantize.hpp"
#include "core/ops/shared/quantization.hpp"

namespace driftscope::strict::quantize {

constexpr std::int64_t grain = 16384;  // elements worth a separate task

bool is_byte(DType dtype) { return dtype == DType::uint8 || dtype == DType::int8; }

std::uint8_t* bytes_of(Tensor& tensor) {
  return reinterpret_cast<std::uint8_t*>(tensor.mutable_bytes().data());
}

ByteSteps steps_of(DType dtype, std::int32_t zero) {
  const IntegerRange range = *quantized_range(dtype);
  return {zero, static_cast<std::int32_t>(range.low), static_cast<std::int32_t>(range.high)};
}

Result<std::vector<Tensor>> one(Tensor tensor) {
  std::vector<Tensor> outputs;
  outputs.push_back(std::move(tensor));
  return outputs;
}

/// Elements that share a scale and a zero point are contiguous.
class ScaledKernel : public StrictKernel {
 public:
  ScaledKernel(const StrictSite& site, const ScaleLayout& layout, DType steps)
      : site_(site), simd_(quantize_kernels(site.simd)), layout_(layout), steps_(steps) {}

 protected:
  /// Calls body(begin, count, scale, zero point) on all threads.
  template <class Body>
  void for_each_run(std::span<const Tensor* const> inputs, const Body& body) const {
    const auto scales = inputs[1]->values<float>();
    std::vector<std::int32_t> zeros(scales.size(), 0);
    if (site_.has_input(2)) zeros = quantized_values(*inputs[2]);
    if (layout_.per_tensor) {
      site_.threads.parallel_for(layout_.inner, grain, [&](std::int64_t begin, std::int64_t end) {
        body(begin, end - begin, scales[0], zeros[0]);
      });
      return;
    }
    site_.threads.parallel_for(layout_.outer * layout_.size,
                               std::max<std::int64_t>(1, grain / std::max<std::int64_t>(1, layout_.inner)),
                               [&](std::int64_t begin, std::int64_t end) {
                                 for (std::int64_t row = begin; row < end; ++row) {
                                   const auto scale = static_cast<std::size_t>(
                                       layout_.scale_row(row / layout_.size, row % layout_.size));
                                   body(row * layout_.inner, layout_.inner, scales[scale], zeros[scale]);
                                 }
                               });
  }

  StrictSite site_;
  QuantizeKernels simd_;
  ScaleLayout layout_;
  DType steps_;
};

class QuantizeKernel final : public ScaledKernel {
 public:
  using ScaledKernel::ScaledKernel;

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    DRIFTSCOPE_TRY(Tensor y, Tensor::make(steps_, inputs[0]->shape(), "output y"));
    const float* x = inputs[0]->values<float>().data();
    std::uint8_t* out = bytes_of(y);
    for_each_run(inputs, [&](std::int64_t begin, std::int64_t count, float scale, std::int32_t zero) {
      simd_.quantize(x + begin, scale, steps_of(steps_, zero), out + begin, static_cast<std::size_t>(count));
    });
    return one(std::move(y));
  }
};

class DequantizeKernel final : public ScaledKernel {
 public:
  using ScaledKernel::ScaledKernel;

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    DRIFTSCOPE_TRY(Tensor y, Tensor::make(DType::float32, inputs[0]->shape(), "output y"));
    float* out = y.mutable_values<float>().data();
    const auto run = [&](const auto* x, const auto dequantize) {
      for_each_run(inputs, [&](std::int64_t begin, std::int64_t count, float scale, std::int32_t zero) {
        dequantize(x + begin, zero, scale, out + begin, static_cast<std::size_t>(count));
      });
    };
    if (steps_ == DType::uint8)
      run(inputs[0]->values<std::uint8_t>().data(), simd_.dequantize_uint8);
    else
      run(inputs[0]->values<std::int8_t>().data(), simd_.dequantize_int8);
    return one(std::move(y));
  }
};

template <class Kernel>
std::unique_ptr<StrictKernel> prepare(const StrictSite& site, std::size_t float_input, DType steps) {
  if (!is_byte(steps) || !site.shape(0) || !site.shape(1)) return nullptr;
  if (site.dtype(float_input) != DType::float32 || site.dtype(1) != DType::float32) return nullptr;
  const auto layout = scale_layout(site.node, *site.shape(0), *site.shape(1));
  if (!layout.ok() || layout->block != 0) return nullptr;
  return std::make_unique<Kernel>(site, *layout, steps);
}

std::unique_ptr<StrictKernel> prepare_quantize(const StrictSite& site) {
  return prepare<QuantizeKernel>(site, 0, site.graph.values[site.node.outputs[0]].dtype);
}
std::unique_ptr<StrictKernel> prepare_dequantize(const StrictSite& site) {
  return prepare<DequantizeKernel>(site, 1, site.dtype(0));
}

class DynamicQuantizeKernel final : public StrictKernel {
 public:
  explicit DynamicQuantizeKernel(const StrictSite& site) : site_(site), simd_(quantize_kernels(site.simd)) {}

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    constexpr IntegerRange range{0, 255};
    const auto x = inputs[0]->values<float>();
    float low = 0.0f;
    float high = 0.0f;
    simd_.widen_range(x.data(), x.size(), low, high);
    float scale = (high - low) / 255.0f;
    if (scale == 0.0f) scale = 1.0f;
    const std::int32_t zero = to_step(-(low / scale), 0, range);
    DRIFTSCOPE_TRY(Tensor y, Tensor::make(DType::uint8, inputs[0]->shape(), "output y"));
    std::uint8_t* out = bytes_of(y);
    site_.threads.parallel_for(y.elements(), grain, [&](std::int64_t begin, std::int64_t end) {
      simd_.quantize(x.data() + begin, scale, steps_of(DType::uint8, zero), out + begin,
                     static_cast<std::size_t>(end - begin));
    });
    std::vector<Tensor> outputs;
    outputs.push_back(std::move(y));
    DRIFTSCOPE_TRY(outputs.emplace_back(), Tensor::from_values<float>({}, std::array{scale}));
    DRIFTSCOPE_TRY(outputs.emplace_back(),
                   Tensor::from_values<std::uint8_t>({}, std::array{static_cast<std::uint8_t>(zero)}));
    outputs.resize(site_.node.outputs.size());
    return outputs;
  }

 private:
  StrictSite site_;
  QuantizeKernels simd_;
};

std::unique_ptr<StrictKernel> prepare_dynamic(const StrictSite& site) {
  if (site.dtype(0) != DType::float32) return nullptr;
  return std::make_unique<DynamicQuantizeKernel>(site);
}

void add_to(StrictKernelTable& table) {
  table.add("QuantizeLinear", prepare_quantize);
  table.add("DequantizeLinear", prepare_dequantize);
  table.add("DynamicQuantizeLinear", prepare_dynamic);
}

}  // namespace driftscope::strict::quantize
