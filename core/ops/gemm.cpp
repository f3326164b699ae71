// Gemm, opset 7 to 21: Y = alpha · A' · B' + beta · C, C broadcast one way to M×N.
//
// Strict definition (float): with alpha = beta = 1 each output is one accumulator that starts at C
// (at +0 without C) and adds a·b for k ascending. Otherwise the accumulator starts at +0, and
// Y = (sum · alpha) + (beta · C), where a factor of 1 is not applied. With beta = 0, C is not read.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/graph/attributes.hpp"
#include "core/numerics/dot.hpp"
#include "core/numerics/math.hpp"
#include "core/ops/shared/broadcast.hpp"
#include "core/ops/shared/exact_factors.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::gemm {

constexpr std::array<std::string_view, 3> names = {"A", "B", "C"};

struct GemmAttributes {
  bool trans_a = false;
  bool trans_b = false;
  float alpha = 1.0f;
  float beta = 1.0f;
};

Result<GemmAttributes> read_attributes(const Node& node) {
  GemmAttributes result;
  DRIFTSCOPE_TRY(const std::int64_t trans_a, int_attribute(node, "transA", 0));
  DRIFTSCOPE_TRY(const std::int64_t trans_b, int_attribute(node, "transB", 0));
  DRIFTSCOPE_TRY(result.alpha, float_attribute(node, "alpha", 1.0f));
  DRIFTSCOPE_TRY(result.beta, float_attribute(node, "beta", 1.0f));
  result.trans_a = trans_a != 0;  // "non-zero means true"
  result.trans_b = trans_b != 0;
  return result;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (std::size_t i = 0; i < names.size(); ++i)
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  DRIFTSCOPE_TRY(const DType dtype, common_dtype(context, names));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "A", 2, 2));
  DRIFTSCOPE_CHECK(expect_rank(context, 1, "B", 2, 2));
  DRIFTSCOPE_CHECK(expect_rank(context, 2, "C", 0, 2));
  DRIFTSCOPE_TRY(const GemmAttributes attributes, read_attributes(context.node()));
  const auto& a = context.input(0).shape;
  const auto& b = context.input(1).shape;
  SymbolicShape y = unknown_shape(2);
  if (a) y[0] = (*a)[attributes.trans_a ? 1 : 0];
  if (b) y[1] = (*b)[attributes.trans_b ? 0 : 1];
  if (a && b) {
    const Dimension& depth_a = (*a)[attributes.trans_a ? 0 : 1];
    const Dimension& depth_b = (*b)[attributes.trans_b ? 1 : 0];
    if (!unify(depth_a, depth_b))
      return bad_input(fmt::format(
          "input 1 (B): {} rows after transposition (shape {}, transB {}) must equal the {} columns "
          "of input 0 (A: shape {}, transA {})",
          depth_b.size, shape_text(*b), attributes.trans_b ? 1 : 0, depth_a.size, shape_text(*a),
          attributes.trans_a ? 1 : 0));
  }
  if (context.has_input(2) && context.input(2).shape) {
    const SymbolicShape& c = *context.input(2).shape;
    for (std::size_t i = 0; i < c.size(); ++i) {
      const Dimension& size = c[c.size() - 1 - i];
      if (size.size != 1 && !unify(size, y[1 - i]))
        return bad_input(
            fmt::format("input 2 (C): shape {} cannot be broadcast to {}", shape_text(c), shape_text(y)));
    }
  }
  return std::vector{TensorType{dtype, std::move(y)}};
}

// alpha · A for Bounded and double: exact in double (two 24-bit factors), so that the sum has the same
// products as in an implementation that folds alpha into A.
template <class S>
std::vector<S> scaled(std::span<const S> values, float alpha) {
  std::vector<S> result(values.begin(), values.end());
  for (S& x : result) {
    if constexpr (std::is_same_v<S, Bounded>) {
      const double size = std::fabs(static_cast<double>(alpha));
      x = Bounded(x.value * static_cast<double>(alpha), x.worst * size, x.likely * size, x.systematic * size);
    } else {
      x = x * static_cast<S>(alpha);
    }
  }
  return result;
}

// Whether an implementation that applies alpha to the sum, to A or to B may leave the range on its way.
template <class A, class B>
void note_range(std::span<const A> a, std::span<const B> b, std::int64_t depth, float alpha) {
  const double largest_a = largest_finite(a);
  const double largest_b = largest_finite(b);
  const double factor = std::fabs(static_cast<double>(alpha));
  const ErrorModel& model = current_error_model();
  if (std::fmax(std::fmax(largest_a, largest_b) * factor,
                largest_a * largest_b * static_cast<double>(depth)) > model.largest)
    model.note_overflow(Overflow::possible);
}

// The memory layout of a factor: element (i, k) is at i·row + k·step.
struct FactorLayout {
  std::int64_t row;
  std::int64_t step;
};

// For exact factors; A already times alpha. `start(i, j)` is the initial value of the sum.
template <class S, class B, class Start>
void multiply_exactly(const KernelContext<S>& context, std::int64_t rows, std::int64_t columns,
                      std::int64_t depth, std::span<const double> a, FactorLayout a_layout,
                      std::span<const B> b, FactorLayout b_layout, Factors factors, bool once_more,
                      const Start& start, std::span<S> y) {
  constexpr std::int64_t block_rows = 128;
  const std::int64_t down = (rows + block_rows - 1) / block_rows;
  const std::int64_t across = (columns + exact_columns - 1) / exact_columns;
  context.parallel_for(down * across, 1, [&](std::int64_t begin, std::int64_t end) {
    ExactBlock block(factors);
    ExactResults<S> result([&] { return largest_finite_product(a, b); }, once_more ? 1 : 0);
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t column = item % across * exact_columns;
      const std::int64_t width = std::min(exact_columns, columns - column);
      const std::int64_t row = item / across * block_rows;
      const std::int64_t height = std::min(block_rows, rows - row);
      block.clear(height, std::is_same_v<S, Bounded>);
      if constexpr (std::is_same_v<S, double>)
        for (std::int64_t i = 0; i < height; ++i)
          for (std::int64_t j = 0; j < width; ++j) block.value(i, j) = start(row + i, column + j);
      block.multiply(
          height, depth, width,
          [&](std::int64_t i, std::int64_t k, std::int64_t count, double* out) {
            const double* from = a.data() + (row + i) * a_layout.row + k * a_layout.step;
            for (std::int64_t t = 0; t < count; ++t) out[exact_rows * t] = from[t * a_layout.step];
          },
          [&](std::int64_t k, std::int64_t count, double* out) {
            const B* from = b.data() + column * b_layout.row + k * b_layout.step;
            const auto put = [&](std::int64_t t, std::int64_t j) {
              out[t * exact_columns + j] = static_cast<double>(from[j * b_layout.row + t * b_layout.step]);
            };
            // In the memory order of B.
            if (b_layout.row == 1) {
              for (std::int64_t t = 0; t < count; ++t)
                for (std::int64_t j = 0; j < width; ++j) put(t, j);
            } else {
              for (std::int64_t j = 0; j < width; ++j)
                for (std::int64_t t = 0; t < count; ++t) put(t, j);
            }
          });
      for (std::int64_t i = 0; i < height; ++i)
        for (std::int64_t j = 0; j < width; ++j)
          y[static_cast<std::size_t>((row + i) * columns + column + j)] =
              result(block, start(row + i, column + j), i, j, depth);
    }
  });
}

struct Gemm {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const GemmAttributes attributes, read_attributes(context.node()));
    const std::span<S> y = context.real_output(0);
    if (y.empty()) return {};
    const std::int64_t rows = context.output_shape(0)[0];
    const std::int64_t columns = context.output_shape(0)[1];
    const std::int64_t depth = context.shape(0)[attributes.trans_a ? 0 : 1];
    const bool has_c = context.has_input(2) && attributes.beta != 0.0f;
    const Shape c_strides =
        has_c ? broadcast_strides(context.shape(2), context.output_shape(0)) : Shape{0, 0};
    const S beta = math::given<S>(attributes.beta);
    const auto bias = [&](std::int64_t i, std::int64_t j) {
      const S c = context.real(2)[static_cast<std::size_t>(i * c_strides[0] + j * c_strides[1])];
      return attributes.beta == 1.0f ? c : beta * c;
    };
    constexpr bool strict = std::is_same_v<S, float>;
    // Whether C is the first term of the sum, see the definition above; in exact arithmetic always.
    const bool starts_at_c = !strict || (attributes.alpha == 1.0f && attributes.beta == 1.0f);

    if constexpr (!strict) {
      const FactorLayout a_layout{attributes.trans_a ? 1 : depth, attributes.trans_a ? rows : 1};
      const FactorLayout b_layout{attributes.trans_b ? depth : 1, attributes.trans_b ? 1 : columns};
      const auto start = [&](std::int64_t i, std::int64_t j) { return has_c ? bias(i, j) : S(0.0); };
      const bool done = with_exact_factors(context, 0, 1, [&](std::span<const double> a, auto b) {
        const auto alpha = static_cast<double>(attributes.alpha);
        std::vector<double> scaled_exactly;
        if (attributes.alpha != 1.0f) {
          if constexpr (std::is_same_v<S, Bounded>) note_range(a, b, depth, attributes.alpha);
          scaled_exactly.assign(a.begin(), a.end());
          for (double& x : scaled_exactly) x *= alpha;
          a = scaled_exactly;
        }
        // alpha·a has more bits than its factors.
        const bool is_scaled = attributes.alpha != 1.0f;
        multiply_exactly<S>(context, rows, columns, depth, a, a_layout, b, b_layout,
                            is_scaled ? Factors::wide : factors_of(context), is_scaled, start, y);
      });
      if (done) return {};
    }
    std::span<const S> a_values = context.real(0);
    std::vector<S> scaled_a;
    if (!strict && attributes.alpha != 1.0f) {
      if constexpr (std::is_same_v<S, Bounded>)
        note_range(a_values, context.real(1), depth, attributes.alpha);
      scaled_a = scaled(a_values, attributes.alpha);
      a_values = scaled_a;
    }
    const std::int64_t a_row = attributes.trans_a ? 1 : depth;
    const std::int64_t a_step = attributes.trans_a ? rows : 1;
    const std::int64_t b_row = attributes.trans_b ? 1 : columns;
    const std::int64_t b_column = attributes.trans_b ? depth : 1;

    with_dot_elements<S>(a_values, context.real(1), [&]<class Sums>(const auto* a, const auto* b) {
      const std::int64_t blocks = (columns + dot_block - 1) / dot_block;
      context.parallel_for(rows * blocks, dot_grain(depth * dot_block),
                           [&](std::int64_t begin, std::int64_t end) {
                             Sums sums(std::min(columns, dot_block));
                             for (std::int64_t item = begin; item < end; ++item) {
                               const std::int64_t i = item / blocks;
                               const std::int64_t first = item % blocks * dot_block;
                               const std::int64_t width = std::min(dot_block, columns - first);
                               sums.clear();
                               for (std::int64_t j = 0; j < width; ++j) {
                                 if (has_c && starts_at_c) sums.start(j, bias(i, first + j));
                                 // One more rounding of every product, for alpha.
                                 if constexpr (std::is_same_v<S, Bounded>)
                                   if (attributes.alpha != 1.0f) sums.round_once_more(j);
                               }
                               add_matrix_row(sums, a + i * a_row, a_step, b + first * b_column, b_row,
                                              b_column, depth, width);
                               for (std::int64_t j = 0; j < width; ++j) {
                                 S result = sums.result(j, depth);
                                 if constexpr (strict) {
                                   if (attributes.alpha != 1.0f) result = result * attributes.alpha;
                                   if (has_c && !starts_at_c) result = result + bias(i, first + j);
                                 }
                                 y[static_cast<std::size_t>(i * columns + first + j)] = result;
                               }
                             }
                           });
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Gemm>(
      {.op_type = "Gemm", .since = 7, .inputs = {2, 3}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::gemm
