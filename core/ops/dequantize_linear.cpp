// DequantizeLinear, opset 10 to 25: (x − x_zero_point) · x_scale; one scale for the tensor, for
// each slice of an axis (opset 13) or for each block along it (21). The result has the type of the
// scale, or that of the attribute output_dtype (23). x is an integer, float8 (19) or float4 (23).
//
// Strict definition (float): the difference is an exact integer, rounded to float32 (which alters
// it only beyond 2²⁴), then one product.
#include <fmt/format.h>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/minifloats.hpp"
#include "core/ops/shared/quantization.hpp"

namespace driftscope::ops::dequantize_linear {

Result<DType> output_dtype(const InferContext& context) {
  DRIFTSCOPE_TRY(const std::int64_t number, int_attribute(context.node(), "output_dtype", 0));
  if (number == 0 && context.input(1).dtype != DType::float8e8m0) return context.input(1).dtype;
  const DType asked = dtype_from_onnx(number).value_or(DType::undefined);
  if (!is_floating(asked))
    return bad_input(fmt::format("attribute output_dtype: expected a floating-point type, got {}{}", number,
                                 number == 0 ? ", and the scale, float8e8m0, is none" : ""));
  return asked;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  const DType x = context.input(0).dtype;
  if (x != DType::undefined && !quantized_range(x) && (!is_minifloat(x) || x == DType::float8e8m0))
    return bad_input(fmt::format(
        "input 0 (x): expected an integer type of 2 to 32 bits, float8 or float4, got {}", dtype_name(x)));
  DRIFTSCOPE_CHECK(check_scales(context, "x"));
  if (context.has_input(2) && x != DType::undefined && context.input(2).dtype != DType::undefined &&
      context.input(2).dtype != x)
    return bad_input(fmt::format("input 2 (x_zero_point): expected {} as input 0 (x) has, got {}",
                                 dtype_name(x), dtype_name(context.input(2).dtype)));
  DRIFTSCOPE_TRY(const DType y, output_dtype(context));
  return std::vector{TensorType{y, context.input(0).shape}};
}

/// Whether a number has few enough digits for a type of this roundoff, a power of two.
bool fits(double x, double unit_roundoff) {
  int exponent = 0;
  const double digits = std::frexp(x, &exponent) / unit_roundoff;
  return digits == std::nearbyint(digits);
}

/// Of integers of 32 bits, or of minifloats.
template <class S>
S difference(double x, double zero_point) {
  const double exact = x - zero_point;
  S result = math::exact<S>(exact);
  if constexpr (std::is_same_v<S, Bounded>) {
    const ErrorModel& model = current_error_model();
    if (std::fabs(exact) * model.unit_roundoff > 1.0 || !fits(exact, model.unit_roundoff))
      result.worst = result.likely = result.systematic = rounding_error(model, std::fabs(exact));
  }
  return result;
}

Bounded widened(Bounded x, const Bounded& by) {
  x.worst += by.worst;
  x.likely += by.likely;
  x.systematic += by.systematic;
  return x;
}

/// What the roundings of two terms add, where a runtime computes (x − lowest)·scale and adds
/// (lowest − zero point)·scale.
Bounded of_two_terms(double x, double zero_point, double lowest, const Bounded& scale) {
  const ErrorModel& model = current_error_model();
  Bounded added;
  if (model.dequantizes_in_two_terms)
    added.worst = added.likely = added.systematic =
        rounding_error(model, std::fabs((x - lowest) * scale.value)) +
        rounding_error(model, std::fabs((zero_point - lowest) * scale.value));
  return added;
}

struct DequantizeLinear {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const ScaleLayout layout,
                   scale_layout(context.node(), context.shape(0), context.shape(1)));
    const std::span<S> y = context.real_output(0);
    if (y.empty()) return {};
    const Tensor& stored = context.tensor(0);
    return is_minifloat(stored.dtype())
               ? multiply(context, layout, y, std::span<const double>(numbers_of(stored)), 0.0)
               : multiply(context, layout, y, std::span<const std::int32_t>(quantized_values(stored)),
                          bits_per_element(stored.dtype()) <= 8
                              ? static_cast<double>(quantized_range(stored.dtype())->low)
                              : 0.0);
  }

 private:
  /// `lowest`: the smallest step, or 0.
  template <class S, class T>
  static Status multiply(KernelContext<S>& context, const ScaleLayout& layout, std::span<S> y,
                         std::span<const T> x, double lowest) {
    std::span<const S> scales = context.real(1);
    std::vector<S> powers;  // scales of float8e8m0
    if (is_minifloat(context.dtype(1))) scales = powers = stored_numbers(context, 1);
    const std::vector<double> zeros =
        context.has_input(2) ? numbers_of(context.tensor(2)) : std::vector<double>(scales.size(), 0.0);
    std::span<const S> moved;  // a quantized value that rounding may have moved
    if constexpr (std::is_same_v<S, Bounded>) moved = context.real(0);
    context.parallel_for(
        layout.outer * layout.size, std::max<std::int64_t>(1, 16384 / layout.inner),
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t row = begin; row < end; ++row) {
            const std::int64_t scale = layout.scale_row(row / layout.size, row % layout.size);
            for (std::int64_t i = 0; i < layout.inner; ++i) {
              const auto at = static_cast<std::size_t>(row * layout.inner + i);
              const auto s = static_cast<std::size_t>(scale + i * layout.scale_step());
              S distance = difference<S>(static_cast<double>(x[at]), zeros[s]);
              if constexpr (std::is_same_v<S, Bounded>)
                if (!moved.empty()) distance = widened(distance, moved[at]);
              y[at] = distance * scales[s];
              if constexpr (std::is_same_v<S, Bounded>)
                y[at] = widened(y[at], of_two_terms(static_cast<double>(x[at]), zeros[s], lowest, scales[s]));
            }
          }
        });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<DequantizeLinear>(
      {.op_type = "DequantizeLinear", .since = 10, .inputs = {2, 3}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::dequantize_linear
