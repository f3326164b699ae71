// QLinearConv, opset 10 to 21: the 32-bit convolution of x and w less their zero points plus B,
// scaled by x_scale · w_scale / y_scale, rounded (ties to even), plus y_zero_point, saturated. w's
// scale and zero point: one, or one per output channel. Padding counts as x_zero_point.
#include "core/ops/shared/integer_products.hpp"

namespace driftscope::ops::qlinear_conv {

constexpr std::array<std::string_view, 9> names = {
    "x", "x_scale", "x_zero_point", "w", "w_scale", "w_zero_point", "y_scale", "y_zero_point", "B"};

Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (const std::size_t i : {0u, 2u, 3u, 5u, 7u}) DRIFTSCOPE_CHECK(expect_bytes(context, i, names[i]));
  for (const std::size_t i : {1u, 4u, 6u})
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  for (const std::size_t i : {1u, 2u, 6u, 7u}) DRIFTSCOPE_CHECK(check_one(context, i, names[i]));
  for (const std::size_t i : {4u, 5u})
    DRIFTSCOPE_CHECK(check_per_channel(context, i, names[i], context.input(3).shape));
  if (context.has_input(8) && context.input(8).dtype != DType::undefined &&
      context.input(8).dtype != DType::int32)
    return bad_input("input 8 (B): expected int32, got " + std::string(dtype_name(context.input(8).dtype)));
  DRIFTSCOPE_TRY(auto shape, infer_convolution(context, {0, 3, 8, {names[0], names[3], names[8]}}));
  return std::vector{TensorType{context.input(7).dtype, std::move(shape)}};
}

struct QLinearConv {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const auto x =
        less_zero_points(context.tensor(0), &context.tensor(2), 1, context.tensor(0).elements(), true);
    const std::int64_t channels = context.shape(3)[0];
    const auto w = less_zero_points(context.tensor(3), &context.tensor(5), channels,
                                    per_channel(context.shape(3)), true);
    std::span<const std::int32_t> bias;
    if (context.has_input(8)) bias = context.tensor(8).template values<std::int32_t>();
    DRIFTSCOPE_TRY(const auto sums,
                   convolve_integers(context, context.shape(0), x, context.shape(3), w, bias));
    Tensor& y = context.tensor_output(0);
    std::span<Bounded> bounds;
    if constexpr (std::is_same_v<S, Bounded>) {
      DRIFTSCOPE_TRY(bounds, context.bounds_output(0));
    }
    if (sums.empty()) return {};
    const std::span<const S> w_scale = context.real(4);
    const std::int32_t zero = quantized_values(context.tensor(7))[0];
    const IntegerRange range = *quantized_range(y.dtype());
    std::vector<std::int32_t> steps(sums.size());
    const std::int64_t plane = per_channel(context.output_shape(0)) / context.output_shape(0)[1];
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const auto m = static_cast<std::size_t>(static_cast<std::int64_t>(i) / plane % channels);
      steps[i] = quantized(
          requantized(sums[i], context.real(1)[0], w_scale[w_scale.size() == 1 ? 0 : m], context.real(6)[0]),
          zero, range, bounds.empty() ? nullptr : &bounds[i]);
    }
    store_quantized(steps, y);
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<QLinearConv>(
      {.op_type = "QLinearConv", .since = 10, .inputs = {8, 9}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::qlinear_conv
