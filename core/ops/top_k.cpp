// TopK, opset 1 to 21: the k largest (or, from 11, smallest) elements along an axis and where they
// are; k is an attribute (opset 1 to 9) or an input. Of equal elements the lower index comes first. A
// NaN counts as the largest number. The result is always sorted, whatever `sorted` says.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/ops/shared/elements.hpp"
#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::top_k {

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::numeric));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "X", 1, max_rank));
  const bool as_input = context.opset() >= 10;
  if (as_input != context.has_input(1))
    return bad_input(as_input ? "input 1 (K): required from opset 10, but absent"
                              : "input 1 (K): k is an attribute before opset 10");
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(context.node(), "axis", -1));
  TensorType values = context.input(0);
  TensorType indices{DType::int64, values.shape};
  if (!values.shape) return std::vector{std::move(values), std::move(indices)};
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, values.shape->size()));
  std::optional<std::int64_t> k;
  if (!as_input) {
    DRIFTSCOPE_TRY(k, int_attribute(context.node(), "k", -1));
  } else if (context.constant(1) != nullptr) {
    DRIFTSCOPE_TRY(k, single_integer(*context.constant(1), 1, "K"));
  }
  const Dimension size = (*values.shape)[axis];
  if (k && (*k < 0 || (size.known() && *k > size.size)))
    return bad_input(fmt::format("k: expected 0 to the size of axis {} of X (shape {}), got {}", axis,
                                 shape_text(*values.shape), *k));
  (*values.shape)[axis] = k ? known_dimension(*k) : Dimension{};
  indices.shape = values.shape;
  return std::vector{std::move(values), std::move(indices)};
}

// One line of the axis: where its elements lie in X and in the outputs.
struct Line {
  std::size_t x = 0;
  std::size_t y = 0;
  std::size_t stride = 1;
};

// Inputs with errors: order statistics move by at most the largest error among the elements, and
// every element that may have this rank may be in this place.
void widen(std::span<const Bounded> x, const Line& line, std::size_t size, std::span<const std::size_t> order,
           std::span<Bounded> values, std::span<Bounded> indices) {
  double worst = 0.0;
  double likely = 0.0;
  for (std::size_t i = 0; i < size; ++i) {
    worst = std::fmax(worst, x[line.x + i * line.stride].worst);
    likely = std::fmax(likely, x[line.x + i * line.stride].likely);
  }
  for (std::size_t j = 0; j < order.size(); ++j) {
    const double value = x[line.x + order[j] * line.stride].value;
    if (!values.empty() && worst > 0.0) values[line.y + j * line.stride] = {value, worst, likely};
    if (indices.empty()) continue;
    double reach = 0.0;
    for (std::size_t i = 0; worst > 0.0 && i < size; ++i)
      if (std::fabs(x[line.x + i * line.stride].value - value) <= 2.0 * worst)
        reach = std::fmax(reach, std::fabs(static_cast<double>(i) - static_cast<double>(order[j])));
    indices[line.y + j * line.stride] = {static_cast<double>(order[j]), reach, reach};
  }
}

struct TopK {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(expect_certain(context, 1, "K"));
    bool largest = true;
    if (context.opset() >= 11) {
      DRIFTSCOPE_TRY(largest, flag_attribute(context.node(), "largest", true));
    }
    const Shape& x_shape = context.shape(0);
    DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(context.node(), "axis", -1));
    DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, x_shape.size()));
    std::int64_t wanted = 0;
    if (context.opset() < 10) {
      DRIFTSCOPE_TRY(wanted, int_attribute(context.node(), "k", 0));
    } else {
      DRIFTSCOPE_TRY(wanted, single_integer(context.tensor(1), 1, "K"));
    }
    if (wanted == 0 || element_count(x_shape) == 0) return {};
    const auto size = static_cast<std::size_t>(x_shape[axis]);
    const auto k = static_cast<std::size_t>(wanted);
    const auto inner = static_cast<std::size_t>(element_count(std::span(x_shape).subspan(axis + 1)));
    const auto lines = static_cast<std::size_t>(element_count(x_shape)) / size;

    std::span<Bounded> index_bounds;
    if constexpr (std::is_same_v<S, Bounded>) {
      const auto x = context.real(0);
      const bool errors = std::any_of(x.begin(), x.end(), [](const Bounded& b) { return b.worst > 0.0; });
      if (errors && context.wants_output(1)) {
        DRIFTSCOPE_TRY(index_bounds, context.bounds_output(1));
      }
    }
    const auto select = [&](auto x, auto values) {
      std::vector<std::size_t> order(size);
      for (std::size_t n = 0; n < lines; ++n) {
        const std::size_t o = n / inner;
        const std::size_t i = n % inner;
        const Line line{o * size * inner + i, o * k * inner + i, inner};
        const auto at = [&](std::size_t e) { return x[line.x + e * inner]; };
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(),
                          [&](std::size_t a, std::size_t b) {
                            if (ordered_before(at(a), at(b))) return !largest;
                            if (ordered_before(at(b), at(a))) return largest;
                            return a < b;
                          });
        for (std::size_t j = 0; j < k; ++j) {
          if (!values.empty()) values[line.y + j * inner] = at(order[j]);
          if (context.wants_output(1))
            context.tensor_output(1).template mutable_values<std::int64_t>()[line.y + j * inner] =
                static_cast<std::int64_t>(order[j]);
        }
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(at(0))>, Bounded>)
          widen(x, line, size, std::span(order).first(k), values, index_bounds);
      }
    };
    if (is_floating(context.dtype(0))) {
      select(context.real(0), context.real_output(0));
      return {};
    }
    context.with_integer(context.dtype(0), [&]<class T>() {
      select(
          context.tensor(0).template values<T>(),
          context.wants_output(0) ? context.tensor_output(0).template mutable_values<T>() : std::span<T>());
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<TopK>({.op_type = "TopK", .inputs = {1, 2}, .outputs = {2, 2}, .infer = infer}));
}

}  // namespace driftscope::ops::top_k
