// OneHot, opset 9 to 21: a new axis of `depth` elements, values[1] where the index points to (negative
// from the end), values[0] elsewhere; an index beyond the depth sets nothing.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/eval/evaluate.hpp"
#include "core/ops/shared/elements.hpp"
#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/move.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::one_hot {

// Numbers of any type as integers; fractions are truncated, values that cannot be an index become −2⁶³.
template <class T>
std::int64_t as_index(const T& x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::int64_t>(x);
  } else {
    const auto v = static_cast<double>(math::value(x));
    return std::fabs(v) < 0x1p62 ? static_cast<std::int64_t>(v) : std::numeric_limits<std::int64_t>::min();
  }
}

template <class T>
std::vector<std::int64_t> as_indices(std::span<const T> values) {
  std::vector<std::int64_t> result;
  result.reserve(values.size());
  for (const T& value : values) result.push_back(as_index(value));
  return result;
}

std::vector<std::int64_t> as_indices(const Tensor& tensor) {
  std::vector<std::int64_t> result;
  with_integer(tensor.dtype(), [&]<class T>() { result = as_indices(tensor.values<T>()); });
  return result;
}

Result<std::int64_t> depth_of(const Tensor& tensor) {
  if (tensor.elements() != 1)
    return bad_input(
        fmt::format("input 1 (depth): expected one element, got shape {}", shape_text(tensor.shape())));
  std::int64_t depth = 0;
  if (is_floating(tensor.dtype())) {
    DRIFTSCOPE_TRY(const auto lifted, lift<double>(tensor));
    depth = as_index(lifted.real[0]);
  } else {
    with_integer(tensor.dtype(), [&]<class T>() { depth = as_index(tensor.values<T>()[0]); });
  }
  if (depth < 0) return bad_input(fmt::format("input 1 (depth): expected 0 or more, got {}", depth));
  return depth;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "indices", Kinds::numeric));
  DRIFTSCOPE_CHECK(expect_kind(context, 1, "depth", Kinds::numeric));
  DRIFTSCOPE_CHECK(expect_kind(context, 2, "values", Kinds::fixed_size));
  if (const auto& values = context.input(2).shape;
      values && (values->size() != 1 || (values->front().known() && values->front().size != 2)))
    return bad_input(
        fmt::format("input 2 (values): expected two elements, got shape {}", shape_text(*values)));
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(context.node(), "axis", -1));
  TensorType y{context.input(2).dtype, context.input(0).shape};
  Dimension depth;
  if (context.constant(1) != nullptr) {
    DRIFTSCOPE_TRY(const std::int64_t size, depth_of(*context.constant(1)));
    depth = known_dimension(size);
  }
  if (!y.shape) return std::vector{std::move(y)};
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, y.shape->size() + 1));
  y.shape->insert(y.shape->begin() + static_cast<std::ptrdiff_t>(axis), depth);
  return std::vector{std::move(y)};
}

struct OneHot {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(expect_certain(context, 0, "indices"));
    const Shape& y = context.output_shape(0);
    DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(context.node(), "axis", -1));
    DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, y.size()));
    if (element_count(y) == 0) return {};
    const std::int64_t depth = y[axis];
    const std::int64_t inner = element_count(std::span(y).subspan(axis + 1));
    std::vector<std::int64_t> hot;
    const std::vector<std::int64_t> indices =
        is_floating(context.dtype(0)) ? as_indices(context.real(0)) : as_indices(context.tensor(0));
    for (std::size_t i = 0; i < indices.size(); ++i) {
      std::int64_t at = indices[i];
      if (at < -depth || at >= depth) continue;
      if (at < 0) at += depth;
      const auto place = static_cast<std::int64_t>(i);
      hot.push_back((place / inner * depth + at) * inner + place % inner);
    }
    constexpr std::array<std::size_t, 1> inputs = {2};
    move_elements(context, inputs, 0, [&](auto sources, auto target) {
      std::fill(target.begin(), target.end(), sources[0][0]);
      for (const std::int64_t i : hot) target[static_cast<std::size_t>(i)] = sources[0][1];
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<OneHot>(
      {.op_type = "OneHot", .since = 9, .inputs = {3, 3}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::one_hot
