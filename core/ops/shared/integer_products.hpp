// Convolutions and matrix products of integers less their zero points, in 32-bit accumulators that
// wrap around, and their conversion to a quantized type. Clients: ConvInteger, MatMulInteger,
// QLinearConv, QLinearMatMul.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/ops/shared/convolution.hpp"
#include "core/ops/shared/matrix_batches.hpp"
#include "core/ops/shared/quantization.hpp"

namespace driftscope {

/// One parameter for a whole tensor, for each row (or column) of its matrices, or for each of those
/// in each batch.
class PerLine {
 public:
  /// `lines`: rows of A, columns of B.
  PerLine(std::int64_t count, std::int64_t lines)
      : single_(count == 1), batched_(count > lines), lines_(lines) {}
  [[nodiscard]] std::size_t at(std::int64_t batch, std::int64_t line) const {
    return static_cast<std::size_t>(single_ ? 0 : batched_ ? batch * lines_ + line : line);
  }

 private:
  bool single_;
  bool batched_;
  std::int64_t lines_;
};

/// The parameter in input `index` fits a tensor of this shape whose `axis` (counted from the end, 1
/// or 2) has the lines: a scalar, a vector of that length, or the tensor's shape with 1 on the
/// other of the last two axes.
[[nodiscard]] Status check_per_line(const InferContext& context, std::size_t index, std::string_view name,
                                    const std::optional<SymbolicShape>& shape, std::size_t axis);

/// 8-bit integers; nothing while the type is unknown.
[[nodiscard]] Status expect_bytes(const InferContext& context, std::size_t index, std::string_view name);

/// The parameter in input `index` is one number.
[[nodiscard]] Status check_one(const InferContext& context, std::size_t index, std::string_view name);
/// … or one for each output channel of weights of this shape.
[[nodiscard]] Status check_per_channel(const InferContext& context, std::size_t index, std::string_view name,
                                       const std::optional<SymbolicShape>& w);

/// Elements per index of the first axis.
[[nodiscard]] inline std::int64_t per_channel(const Shape& shape) {
  return element_count(std::span(shape).subspan(1));
}

/// The elements of [batches, rows, columns] less the zero point of their row, or of their column.
[[nodiscard]] std::vector<std::uint32_t> less_zero_points(const Tensor& values, const Tensor* zeros,
                                                          std::int64_t rows, std::int64_t columns,
                                                          bool per_row);

/// How far the elements of an integer operand, less their zero points, may be from those that are computed
/// with: rounding in nodes before may have moved either. Both bounds, rounded up.
struct Moved {
  std::vector<std::uint32_t> worst;
  std::vector<std::uint32_t> likely;
};

/// The elements of [batches, rows, columns] in input `index`, with zero points in input `zeros` as of
/// less_zero_points; nothing where all are exact. Only Bounded operands may have moved.
template <class S>
[[nodiscard]] std::optional<Moved> moved_elements(const KernelContext<S>& context, std::size_t index,
                                                  std::size_t zeros, std::int64_t rows, std::int64_t columns,
                                                  bool per_row) {
  if constexpr (std::is_same_v<S, Bounded>) {
    const std::span<const Bounded> values = context.real(index);
    const std::span<const Bounded> zero =
        context.has_input(zeros) ? context.real(zeros) : std::span<const Bounded>();
    const bool exact = std::ranges::all_of(values, [](const Bounded& x) { return x.worst == 0.0; }) &&
                       std::ranges::all_of(zero, [](const Bounded& x) { return x.worst == 0.0; });
    if (exact) return std::nullopt;
    Moved moved;
    const auto count = static_cast<std::size_t>(context.tensor(index).elements());
    const PerLine line(static_cast<std::int64_t>(std::max<std::size_t>(1, zero.size())),
                       per_row ? rows : columns);
    const auto steps = [&](double Bounded::* which, std::size_t i) {
      const auto at = static_cast<std::int64_t>(i);
      const std::size_t z = line.at(at / (rows * columns), per_row ? at / columns % rows : at % columns);
      const double sum = (values.empty() ? 0.0 : values[i].*which) + (zero.empty() ? 0.0 : zero[z].*which);
      return static_cast<std::uint32_t>(std::ceil(std::fmin(sum, 511.0)));
    };
    for (std::size_t i = 0; i < count; ++i) {
      moved.worst.push_back(steps(&Bounded::worst, i));
      moved.likely.push_back(steps(&Bounded::likely, i));
    }
    return moved;
  } else {
    return std::nullopt;
  }
}

/// Bounds of the sums of products of two operands that may have moved: with d by how much, at most
/// Σ da·|b| + |a|·db + da·db, computed by `product(a, b)` from magnitudes. A sum that may wrap around may be
/// anything.
template <class S, class Product>
[[nodiscard]] Status bound_products(KernelContext<S>& context, std::span<const std::int32_t> sums,
                                    std::vector<std::uint32_t> a, std::vector<std::uint32_t> b,
                                    const std::optional<Moved>& a_moved, const std::optional<Moved>& b_moved,
                                    const Product& product) {
  if (!a_moved && !b_moved) return {};
  for (std::vector<std::uint32_t>* const operand : {&a, &b})
    for (std::uint32_t& x : *operand)
      x = static_cast<std::uint32_t>(std::abs(static_cast<std::int64_t>(static_cast<std::int32_t>(x))));
  DRIFTSCOPE_TRY(const std::span<Bounded> bounds, context.bounds_output(0));
  for (std::size_t i = 0; i < sums.size(); ++i) bounds[i] = Bounded(static_cast<double>(sums[i]));
  const auto add = [&](double Bounded::* which, const std::vector<std::uint32_t>& x,
                       const std::vector<std::uint32_t>& y) -> Status {
    DRIFTSCOPE_TRY(const std::vector<std::int32_t> more, product(x, y));
    for (std::size_t i = 0; i < more.size(); ++i)
      bounds[i].*which += static_cast<double>(static_cast<std::uint32_t>(more[i]));
    return {};
  };
  const auto sum_of = [](const std::vector<std::uint32_t>& x, const std::vector<std::uint32_t>& d) {
    std::vector<std::uint32_t> sum(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) sum[i] = x[i] + d[i];
    return sum;
  };
  for (const auto& [which, part] :
       {std::pair{&Bounded::worst, &Moved::worst}, {&Bounded::likely, &Moved::likely}}) {
    if (a_moved) DRIFTSCOPE_CHECK(add(which, (*a_moved).*part, b_moved ? sum_of(b, (*b_moved).*part) : b));
    if (b_moved) DRIFTSCOPE_CHECK(add(which, a, (*b_moved).*part));
  }
  for (Bounded& x : bounds) {
    x.systematic = x.likely;
    constexpr double largest = 2147483647.0;
    if (std::fabs(x.value) + x.worst > largest) x.worst = x.likely = x.systematic = 2.0 * largest;
  }
  return {};
}

/// a·b as 32-bit integers.
template <class S>
[[nodiscard]] std::vector<std::int32_t> multiply_integers(const KernelContext<S>& context,
                                                          const MatrixBatches& product,
                                                          const std::vector<std::uint32_t>& a,
                                                          const std::vector<std::uint32_t>& b) {
  std::vector<std::uint32_t> y(static_cast<std::size_t>(product.batches * product.rows * product.columns));
  multiply_matrices<PlainSums<std::uint32_t>>(context, product, a.data(), b.data(), y);
  return {y.begin(), y.end()};
}

/// The convolution of x and w (less their zero points, so that padding adds nothing) plus a bias
/// per channel, which may be empty.
template <class S>
[[nodiscard]] Result<std::vector<std::int32_t>> convolve_integers(
    const KernelContext<S>& context, const Shape& x_shape, const std::vector<std::uint32_t>& x,
    const Shape& w_shape, const std::vector<std::uint32_t>& w, std::span<const std::int32_t> bias) {
  DRIFTSCOPE_TRY(const WindowAttributes window,
                 read_window(context.node(), Ints(w_shape.begin() + 2, w_shape.end())));
  DRIFTSCOPE_TRY(std::vector<WindowAxis> axes, place_windows(window, std::span(x_shape).subspan(2)));
  DRIFTSCOPE_TRY(const std::int64_t group, read_group(context.node()));
  std::vector<std::int32_t> y(static_cast<std::size_t>(element_count(context.output_shape(0))));
  if (y.empty()) return y;
  const ConvolutionLayout layout(std::move(axes), x_shape, w_shape, group);
  convolve_rows<PlainSums<std::uint32_t>>(
      context, layout, x_shape[0], x.data(), w.data(), bias, std::span(y),
      [](auto& sums, std::int64_t o, std::int64_t) { return static_cast<std::int32_t>(sums.result(o, 0)); });
  return y;
}

/// accumulator · (a_scale · b_scale / y_scale), before it is rounded to a step. Strict (float): the
/// scales are multiplied, divided, and the accumulator, rounded to float32, is multiplied by that.
template <class S>
[[nodiscard]] S requantized(std::int32_t accumulator, const S& a_scale, const S& b_scale, const S& y_scale) {
  const auto exact = static_cast<double>(accumulator);
  S number = math::exact<S>(exact);
  S result = number * (a_scale * b_scale / y_scale);
  if constexpr (std::is_same_v<S, Bounded>) {
    // The accumulator in float32, and one rounding more for multipliers in fixed point.
    const double more = 2.0 * current_error_model().unit_roundoff * std::fabs(result.value);
    result.worst += more;
    result.likely += more;
    result.systematic += more;
  }
  return result;
}

}  // namespace driftscope
