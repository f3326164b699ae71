// MatMul, opset 1 to 21: numpy.matmul, so vectors at either end and broadcast batches. Integers
// wrap around.
//
// Strict definition (float): each output is one accumulator from +0, k ascending.
#include "core/eval/integers.hpp"
#include "core/ops/shared/exact_factors.hpp"
#include "core/ops/shared/matrix_batches.hpp"

namespace driftscope::ops::matmul {

constexpr std::array<std::string_view, 2> names = {"A", "B"};

Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (std::size_t i = 0; i < names.size(); ++i)
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::numeric));
  DRIFTSCOPE_TRY(const DType dtype, common_dtype(context, names));
  DRIFTSCOPE_TRY(auto shape, infer_matmul(context, {0, 1}, names));
  return std::vector{TensorType{dtype, std::move(shape)}};
}

// For exact factors, block by block.
template <class S, class B>
void multiply_exactly(const KernelContext<S>& context, const MatrixBatches& product,
                      std::span<const double> a, std::span<const B> b, std::span<S> y) {
  constexpr std::int64_t block_rows = 128;
  const std::int64_t down = (product.rows + block_rows - 1) / block_rows;
  const std::int64_t across = (product.columns + exact_columns - 1) / exact_columns;
  context.parallel_for(product.batches * down * across, 1, [&](std::int64_t begin, std::int64_t end) {
    ExactBlock block(factors_of(context));
    ExactResults<S> result([&] { return largest_finite_product(a, b); });
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t column = item % across * exact_columns;
      const std::int64_t columns = std::min(exact_columns, product.columns - column);
      const std::int64_t row = item / across % down * block_rows;
      const std::int64_t rows = std::min(block_rows, product.rows - row);
      const std::int64_t batch = item / across / down;
      const auto matrices = offsets_at(batch, product.batch, product.strides);
      const double* left = a.data() + (matrices[0] * product.rows + row) * product.depth;
      const B* right = b.data() + matrices[1] * product.depth * product.columns + column;
      block.clear(rows, std::is_same_v<S, Bounded>);
      block.multiply(
          rows, product.depth, columns,
          [&](std::int64_t r, std::int64_t k, std::int64_t count, double* out) {
            const double* from = left + r * product.depth + k;
            for (std::int64_t i = 0; i < count; ++i) out[exact_rows * i] = from[i];
          },
          [&](std::int64_t k, std::int64_t count, double* out) {
            for (std::int64_t i = 0; i < count; ++i)
              for (std::int64_t j = 0; j < columns; ++j)
                out[i * exact_columns + j] = static_cast<double>(right[(k + i) * product.columns + j]);
          });
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t j = 0; j < columns; ++j)
          y[static_cast<std::size_t>((batch * product.rows + row + r) * product.columns + column + j)] =
              result(block, S(0.0), r, j, product.depth);
    }
  });
}

struct MatMul {
  template <class S>
  static Status run(KernelContext<S>& context) {
    if (element_count(context.output_shape(0)) == 0) return {};
    const MatrixBatches product(context.shape(0), context.shape(1), context.output_shape(0));
    if (is_floating(context.output_dtype(0))) {
      const bool done = with_exact_factors(context, 0, 1, [&](std::span<const double> a, auto b) {
        if constexpr (!std::is_same_v<S, float>)
          multiply_exactly<S>(context, product, a, b, context.real_output(0));
      });
      if (done) return {};
      with_dot_elements<S>(context.real(0), context.real(1), [&]<class Sums>(const auto* a, const auto* b) {
        multiply_matrices<Sums>(context, product, a, b, context.real_output(0));
      });
      return {};
    }
    context.with_integer(context.output_dtype(0), [&]<class T>() {
      const auto widened = [&](std::size_t i) {
        const auto values = context.tensor(i).template values<T>();
        return std::vector<std::uint64_t>(values.begin(), values.end());
      };
      std::vector<std::uint64_t> wide(static_cast<std::size_t>(context.tensor_output(0).elements()));
      multiply_matrices<PlainSums<std::uint64_t>>(context, product, widened(0).data(), widened(1).data(),
                                                  wide);
      const auto y = context.tensor_output(0).template mutable_values<T>();
      std::transform(wide.begin(), wide.end(), y.begin(), cut_integer<T>);
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<MatMul>({.op_type = "MatMul", .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::matmul
