// DynamicQuantizeLinear, opset 11 to 21: uint8 with a scale and a zero point from the range of x,
// which always contains 0. An x of zeros alone has the scale 1.
//
// Strict definition (float): scale = (max − min) / 255, zero point = round(saturate(0 − min /
// scale)), y = saturate(round(x / scale) + zero point); ties to even.
#include "core/ops/shared/quantization.hpp"
#include "core/ops/shared/real_elements.hpp"

namespace driftscope::ops::dynamic_quantize_linear {

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "x", Kinds::floating));
  return std::vector{TensorType{DType::uint8, context.input(0).shape},
                     TensorType{context.input(0).dtype, SymbolicShape()},
                     TensorType{DType::uint8, SymbolicShape()}};
}

double to_float(double x) { return static_cast<double>(static_cast<float>(x)); }

struct DynamicQuantizeLinear {
  template <class S>
  static Status run(KernelContext<S>& context) {
    constexpr IntegerRange range{0, 255};
    const RealElements<S> x(context, 0);
    S low = math::exact<S>(0.0);
    S high = math::exact<S>(0.0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      low = math::min(low, x[i]);
      high = math::max(high, x[i]);
    }
    S scale = (high - low) / math::exact<S>(255.0);
    if (math::value(scale) == 0) scale = math::exact<S>(1.0);
    // Elements are divided by the scale in its output precision.
    if constexpr (std::is_same_v<S, Bounded>) scale.value = to_float(scale.value);
    if constexpr (std::is_same_v<S, double>) scale = to_float(scale);
    Bounded zero_bound;
    const std::int32_t zero = quantized(-quotient(low, scale), 0, range, &zero_bound);

    if (context.wants_output(1)) context.real_output(1)[0] = scale;
    if (context.wants_output(2)) {
      store_quantized(std::array{zero}, context.tensor_output(2));
      if constexpr (std::is_same_v<S, Bounded>) {
        DRIFTSCOPE_TRY(const std::span<Bounded> bound, context.bounds_output(2));
        bound[0] = zero_bound;
      }
    }
    if (!context.wants_output(0)) return {};
    std::span<Bounded> bounds;
    if constexpr (std::is_same_v<S, Bounded>) {
      DRIFTSCOPE_TRY(bounds, context.bounds_output(0));
    }
    std::vector<std::int32_t> steps(x.size());
    context.parallel_for(
        static_cast<std::int64_t>(x.size()), 4096, [&](std::int64_t begin, std::int64_t end) {
          for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
            steps[i] = quantized(quotient(x[i], scale), zero, range, bounds.empty() ? nullptr : &bounds[i],
                                 zero_bound);
        });
    store_quantized(steps, context.tensor_output(0));
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<DynamicQuantizeLinear>({.op_type = "DynamicQuantizeLinear",
                                                 .since = 11,
                                                 .inputs = {1, 1},
                                                 .outputs = {3, 3},
                                                 .infer = infer}));
}

}  // namespace driftscope::ops::dynamic_quantize_linear
