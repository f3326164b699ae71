// QuantizeLinear, opset 10 to 21: saturate(round(x / y_scale) + y_zero_point), ties to even; one
// scale for the tensor, for each slice of an axis (opset 13) or for each block along it (21).
//
// Strict definition (float): the quotient is rounded to float32, then to the nearest integer.
#include <fmt/format.h>

#include "core/graph/attributes.hpp"
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
  if (!quantized_range(asked) || asked == DType::int32)
    return unsupported(
        fmt::format("quantization to {}: expected an integer type of 4, 8 or 16 bits", dtype_name(asked)));
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
    const IntegerRange range = *quantized_range(y.dtype());
    std::vector<std::int32_t> steps(static_cast<std::size_t>(y.elements()));
    std::span<Bounded> bounds;
    if constexpr (std::is_same_v<S, Bounded>) {
      DRIFTSCOPE_TRY(bounds, context.bounds_output(0));
    }
    if (steps.empty()) return {};
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
    const std::span<const S> scales = context.real(1);
    std::vector<std::int32_t> zeros(scales.size(), 0);
    if (context.has_input(2)) zeros = quantized_values(context.tensor(2));
    const ErrorModel model = error_model_for(current_error_model(), context.dtype(0));
    context.parallel_for(layout.outer * layout.size, std::max<std::int64_t>(1, 4096 / layout.inner),
                         [&](std::int64_t begin, std::int64_t end) {
                           const ErrorModelScope scope(model);
                           for (std::int64_t row = begin; row < end; ++row) {
                             const std::int64_t scale =
                                 layout.scale_row(row / layout.size, row % layout.size);
                             for (std::int64_t i = 0; i < layout.inner; ++i) {
                               const auto at = static_cast<std::size_t>(row * layout.inner + i);
                               const auto s = static_cast<std::size_t>(scale + i * layout.scale_step());
                               steps[at] = quantized(quotient(x[at], scales[s]), zeros[s], range,
                                                     bounds.empty() ? nullptr : &bounds[at]);
                             }
                           }
                         });
    store_quantized(steps, y);
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<QuantizeLinear>(
      {.op_type = "QuantizeLinear", .since = 10, .inputs = {2, 3}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::quantize_linear
