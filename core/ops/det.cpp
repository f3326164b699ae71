// Det, opset 11 to 21: the determinant of square matrices in the last two axes, by elimination with
// partial pivoting (the first of the largest candidates).
//
// The bound of Bounded does not come from its own steps: elimination in another order has other
// errors, but always as if the matrix had been off by n·u·growth, and moving a row by e moves
// the determinant by at most |e| times the lengths of the others (Hadamard).
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <cmath>

#include "core/numerics/math.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::det {

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::floating));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "X", 2, std::size_t(-1)));
  TensorType y = context.input(0);
  if (!y.shape) return std::vector{std::move(y)};
  if (!unify((*y.shape)[y.shape->size() - 2], y.shape->back()))
    return bad_input(
        fmt::format("input 0 (X): expected square matrices, got shape {}", shape_text(*y.shape)));
  y.shape->resize(y.shape->size() - 2);
  return std::vector{std::move(y)};
}

template <class T>
T determinant(std::vector<T>& a, std::size_t n) {
  T result = T(1);
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::fabs(a[i * n + k]) > std::fabs(a[pivot * n + k])) pivot = i;
    const T top = a[pivot * n + k];
    if (top == T(0)) return T(0);
    if (pivot != k) {
      for (std::size_t j = k; j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
      result = -result;
    }
    result = result * top;
    for (std::size_t i = k + 1; i < n; ++i) {
      const T factor = a[i * n + k] / top;
      for (std::size_t j = k + 1; j < n; ++j) a[i * n + j] = a[i * n + j] - factor * a[k * n + j];
    }
  }
  return result;
}

// Σ over rows of (the row's error) × Π over the other rows of (length + error).
double reach(std::span<const Bounded> a, std::size_t n, double Bounded::* which) {
  const double unit =
      4.0 * static_cast<double>(n) * std::sqrt(static_cast<double>(n)) * current_error_model().unit_roundoff;
  double product = 1.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    double length = 0.0;
    double error = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      const Bounded& x = a[i * n + j];
      length += x.value * x.value;
      error += x.*which * (x.*which);
    }
    length = std::sqrt(length);
    error = std::sqrt(error) + unit * length;
    sum = sum * (length + error) + error * product;
    product *= length + error;
  }
  return sum + 2.0 * static_cast<double>(n) * current_error_model().unit_roundoff * product;
}

struct Det {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const std::span<const S> x = context.real(0);
    const std::span<S> y = context.real_output(0);
    const auto n = static_cast<std::size_t>(context.shape(0).back());
    context.parallel_for(static_cast<std::int64_t>(y.size()), 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto item = static_cast<std::size_t>(begin); item < static_cast<std::size_t>(end); ++item) {
        const std::span<const S> matrix = x.subspan(item * n * n, n * n);
        if constexpr (std::is_same_v<S, Bounded>) {
          std::vector<double> values(n * n);
          for (std::size_t i = 0; i < n * n; ++i) values[i] = matrix[i].value;
          const double value = determinant(values, n);
          const double worst = reach(matrix, n, &Bounded::worst);
          const double infinite = std::numeric_limits<double>::infinity();
          if (!std::isfinite(value) || !std::isfinite(worst) ||
              worst + std::fabs(value) > current_error_model().largest)
            y[item] = Bounded(value, infinite, infinite);
          else
            y[item] = Bounded(value, worst, reach(matrix, n, &Bounded::likely));
        } else {
          std::vector<S> values(matrix.begin(), matrix.end());
          y[item] = determinant(values, n);
        }
      }
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Det>(
      {.op_type = "Det", .since = 11, .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::det
