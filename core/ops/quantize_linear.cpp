// QuantizeLinear, opset 10 to 25: saturate(round(x / y_scale) + y_zero_point), ties to even; one
// scale for the tensor, for each slice of an axis (opset 13) or for each block along it (21). To float8 (19)
// and float4 (23): x / y_scale + y_zero_point, rounded as Cast does.
//
// Strict definition (float): the quotient is rounded to float32, then to the nearest integer.
#include <fmt/format.h>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/minifloats.hpp"
#include "core/ops/shared/quantization.hpp"

namespace driftscope::ops::quantize_linear {

Result<DType> output_dtype(const Node& node, DType zero_point) {
  DType asked = DType::undefined;
  if (node.opset >= 21) {
    DRIFTSCOPE_TRY(const std::int64_t number, int_attribute(node, "output_dtype", 0));
    if (number != 0) asked = dtype_from_onnx(number).value_or(DType::string);
  }
  if (asked != DType::undefined && zero_point != DType::undefined && asked != zero_point)
    return bad_input(fmt::format("attribute output_dtype: expected {} as y_zero_point has, got {}",
                                 dtype_name(zero_point), dtype_name(asked)));
  if (zero_point != DType::undefined) asked = zero_point;
  if (asked == DType::undefined) asked = DType::uint8;
  const bool integer = quantized_range(asked).has_value() && asked != DType::int32;
  if (!integer && (!is_minifloat(asked) || asked == DType::float8e8m0))
    return unsupported(fmt::format(
        "quantization to {}: expected an integer type of 2 to 16 bits, float8 or float4", dtype_name(asked)));
  return asked;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  const DType x = context.input(0).dtype;
  if (x != DType::undefined && x != DType::int32)
    DRIFTSCOPE_CHECK(expect_kind(context, 0, "x", Kinds::floating));
  DRIFTSCOPE_CHECK(expect_default(context, "precision"));
  DRIFTSCOPE_CHECK(check_scales(context, "y"));
  const bool has_zero = context.has_input(2);
  if (has_zero && context.input(2).dtype == DType::undefined)
    return std::vector{TensorType{DType::undefined, context.input(0).shape}};
  DRIFTSCOPE_TRY(const DType dtype,
                 output_dtype(context.node(), has_zero ? context.input(2).dtype : DType::undefined));
  return std::vector{TensorType{dtype, context.input(0).shape}};
}

struct QuantizeLinear {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const ScaleLayout layout,
                   scale_layout(context.node(), context.shape(0), context.shape(1)));
    Tensor& y = context.tensor_output(0);
    std::span<Bounded> bounds;
    if constexpr (std::is_same_v<S, Bounded>) {
      DRIFTSCOPE_TRY(bounds, context.bounds_output(0));
    }
    if (y.elements() == 0) return {};
    std::span<const S> x = context.real(0);
    std::vector<S> converted;  // of int32
    if (!is_floating(context.dtype(0))) {
      for (const std::int32_t value : context.tensor(0).template values<std::int32_t>()) {
        S number = math::exact<S>(static_cast<double>(value));
        if constexpr (std::is_same_v<S, Bounded>)
          if (static_cast<double>(static_cast<float>(value)) != number.value)
            number.worst = number.likely = number.systematic =
                rounding_error(current_error_model(), std::fabs(number.value));
        converted.push_back(number);
      }
      x = converted;
    }
    std::span<const S> scales = context.real(1);
    std::vector<S> powers;  // scales of float8e8m0
    if (is_minifloat(context.dtype(1))) scales = powers = stored_numbers(context, 1);
    if (is_minifloat(y.dtype())) return to_minifloats(context, layout, x, scales, bounds);
    std::vector<std::int32_t> zeros(scales.size(), 0);
    if (context.has_input(2)) zeros = quantized_values(context.tensor(2));
    const IntegerRange range = *quantized_range(y.dtype());
    std::vector<std::int32_t> steps(static_cast<std::size_t>(y.elements()));
    for_elements(context, layout, [&](std::size_t at, std::size_t s) {
      steps[at] =
          quantized(quotient(x[at], scales[s]), zeros[s], range, bounds.empty() ? nullptr : &bounds[at]);
    });
    store_quantized(steps, y);
    return {};
  }

 private:
  /// Calls body(element, its scale) for all, on several threads, in the error model of x.
  template <class S, class Body>
  static void for_elements(KernelContext<S>& context, const ScaleLayout& layout, const Body& body) {
    const ErrorModel model = error_model_for(current_error_model(), context.dtype(0));
    context.parallel_for(layout.outer * layout.size, std::max<std::int64_t>(1, 4096 / layout.inner),
                         [&](std::int64_t begin, std::int64_t end) {
                           const ErrorModelScope scope(model);
                           for (std::int64_t row = begin; row < end; ++row) {
                             const std::int64_t scale =
                                 layout.scale_row(row / layout.size, row % layout.size);
                             for (std::int64_t i = 0; i < layout.inner; ++i)
                               body(static_cast<std::size_t>(row * layout.inner + i),
                                    static_cast<std::size_t>(scale + i * layout.scale_step()));
                           }
                         });
  }

  template <class S>
  static Status to_minifloats(KernelContext<S>& context, const ScaleLayout& layout, std::span<const S> x,
                              std::span<const S> scales, std::span<Bounded> bounds) {
    Tensor& y = context.tensor_output(0);
    DRIFTSCOPE_TRY(const MinifloatRounder rounder, MinifloatRounder::make(y.dtype(), context.node()));
    const std::vector<double> zeros =
        context.has_input(2) ? numbers_of(context.tensor(2)) : std::vector<double>(scales.size(), 0.0);
    std::vector<std::uint8_t> bits(static_cast<std::size_t>(y.elements()));
    for_elements(context, layout, [&](std::size_t at, std::size_t s) {
      S q = quotient(x[at], scales[s]);
      if (zeros[s] != 0.0) q = q + math::exact<S>(zeros[s]);
      // The specification divides in float32.
      const auto rounded = static_cast<double>(static_cast<float>(math::value(q)));
      bits[at] =
          rounder.bits(context.has_input(2) ? rounded + 0.0 : rounded);  // a zero point of 0 makes 0 of -0
      if constexpr (std::is_same_v<S, Bounded>) {
        const double moved = std::fabs(rounded - q.value);  // NaN of infinity: then both are the same
        const double by = moved > 0.0 ? moved : 0.0;
        bounds[at] = rounder.bounded({rounded, q.worst + by, q.likely + by});
      }
    });
    store_minifloats(bits, y);
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<QuantizeLinear>(
      {.op_type = "QuantizeLinear", .since = 10, .inputs = {2, 3}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::quantize_linear
