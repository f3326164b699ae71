// QLinearMatMul, opset 10 to 21: the 32-bit product of A and B less their zero points, scaled by
// a_scale · b_scale / y_scale, rounded (ties to even), plus y_zero_point, saturated.
#include "core/ops/shared/integer_products.hpp"

namespace driftscope::ops::qlinear_matmul {

constexpr std::array<std::string_view, 8> names = {"a",       "a_scale",      "a_zero_point", "b",
                                                   "b_scale", "b_zero_point", "y_scale",      "y_zero_point"};

Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (const std::size_t i : {0u, 2u, 3u, 5u, 7u}) DRIFTSCOPE_CHECK(expect_bytes(context, i, names[i]));
  for (const std::size_t i : {1u, 4u, 6u})
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  DRIFTSCOPE_TRY(auto shape, infer_matmul(context, {0, 3}, {names[0], names[3]}));
  for (const std::size_t i : {1u, 2u})
    DRIFTSCOPE_CHECK(check_per_line(context, i, names[i], context.input(0).shape, 2));
  for (const std::size_t i : {4u, 5u})
    DRIFTSCOPE_CHECK(check_per_line(context, i, names[i], context.input(3).shape, 1));
  for (const std::size_t i : {6u, 7u}) DRIFTSCOPE_CHECK(check_per_line(context, i, names[i], shape, 2));
  return std::vector{TensorType{context.input(7).dtype, std::move(shape)}};
}

struct QLinearMatMul {
  template <class S>
  static Status run(KernelContext<S>& context) {
    Tensor& y = context.tensor_output(0);
    std::span<Bounded> bounds;
    if constexpr (std::is_same_v<S, Bounded>) {
      DRIFTSCOPE_TRY(bounds, context.bounds_output(0));
    }
    if (y.elements() == 0) return {};
    const MatrixBatches product(context.shape(0), context.shape(3), context.output_shape(0));
    const auto a = less_zero_points(context.tensor(0), &context.tensor(2), product.rows, product.depth, true);
    const auto b =
        less_zero_points(context.tensor(3), &context.tensor(5), product.depth, product.columns, false);
    const auto sums = multiply_integers(context, product, a, b);

    const std::span<const S> a_scale = context.real(1);
    const std::span<const S> b_scale = context.real(4);
    const std::span<const S> y_scale = context.real(6);
    const std::vector<std::int32_t> zeros = quantized_values(context.tensor(7));
    const auto line = [](std::size_t count, std::int64_t lines) {
      return PerLine(static_cast<std::int64_t>(count), lines);
    };
    const PerLine a_line = line(a_scale.size(), product.rows);
    const PerLine b_line = line(b_scale.size(), product.columns);
    const PerLine y_line = line(y_scale.size(), product.rows);
    const PerLine zero_line = line(zeros.size(), product.rows);
    const IntegerRange range = *quantized_range(y.dtype());
    std::vector<std::int32_t> steps(sums.size());
    for (std::int64_t batch = 0; batch < product.batches; ++batch) {
      const auto matrices = offsets_at(batch, std::span<const std::int64_t>(product.batch), product.strides);
      for (std::int64_t i = 0; i < product.rows * product.columns; ++i) {
        const std::int64_t row = i / product.columns;
        const auto at = static_cast<std::size_t>(batch * product.rows * product.columns + i);
        const S number =
            requantized(sums[at], a_scale[a_line.at(matrices[0], row)],
                        b_scale[b_line.at(matrices[1], i % product.columns)], y_scale[y_line.at(batch, row)]);
        steps[at] =
            quantized(number, zeros[zero_line.at(batch, row)], range, bounds.empty() ? nullptr : &bounds[at]);
      }
    }
    store_quantized(steps, y);
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<QLinearMatMul>(
      {.op_type = "QLinearMatMul", .since = 10, .inputs = {8, 8}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::qlinear_matmul
