// MatMulInteger, opset 10 to 21: (A − a_zero_point) · (B − b_zero_point) in 32-bit integers, which
// wrap around. Zero points: one, one per row of A or column of B, or that for every batch.
#include <algorithm>

#include "core/ops/shared/integer_products.hpp"

namespace driftscope::ops::matmul_integer {

constexpr std::array<std::string_view, 4> names = {"A", "B", "a_zero_point", "b_zero_point"};

Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (std::size_t i = 0; i < names.size(); ++i) DRIFTSCOPE_CHECK(expect_bytes(context, i, names[i]));
  DRIFTSCOPE_CHECK(check_per_line(context, 2, names[2], context.input(0).shape, 2));
  DRIFTSCOPE_CHECK(check_per_line(context, 3, names[3], context.input(1).shape, 1));
  DRIFTSCOPE_TRY(auto shape, infer_matmul(context, {0, 1}, {names[0], names[1]}));
  return std::vector{TensorType{DType::int32, std::move(shape)}};
}

struct MatMulInteger {
  template <class S>
  static Status run(KernelContext<S>& context) {
    Tensor& y = context.tensor_output(0);
    if (y.elements() == 0) return {};
    const MatrixBatches product(context.shape(0), context.shape(1), context.output_shape(0));
    const auto zeros = [&](std::size_t i) { return context.has_input(i) ? &context.tensor(i) : nullptr; };
    const auto a = less_zero_points(context.tensor(0), zeros(2), product.rows, product.depth, true);
    const auto b = less_zero_points(context.tensor(1), zeros(3), product.depth, product.columns, false);
    const auto sums = multiply_integers(context, product, a, b);
    std::copy(sums.begin(), sums.end(), y.mutable_values<std::int32_t>().begin());
    const auto a_moved = moved_elements(context, 0, 2, product.rows, product.depth, true);
    const auto b_moved = moved_elements(context, 1, 3, product.depth, product.columns, false);
    return bound_products(context, sums, a, b, a_moved, b_moved,
                          [&](const auto& p, const auto& q) -> Result<std::vector<std::int32_t>> {
                            return multiply_integers(context, product, p, q);
                          });
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<MatMulInteger>(
      {.op_type = "MatMulInteger", .since = 10, .inputs = {2, 4}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::matmul_integer
