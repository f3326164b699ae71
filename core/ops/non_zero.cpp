// NonZero, opset 9 to 21: the coordinates of the elements that are not 0, one column each, in row-major
// order; of a scalar no rows (where NumPy has one). NaN is not 0.
// Compress, opset 9 to 21: the elements or slices whose condition is true.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>

#include "core/eval/evaluate.hpp"
#include "core/ops/shared/elements.hpp"
#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/move.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::non_zero {

Result<std::vector<TensorType>> infer_non_zero(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::fixed_size));
  SymbolicShape y = unknown_shape(2);
  if (const auto& x = context.input(0).shape) y[0] = known_dimension(static_cast<std::int64_t>(x->size()));
  return std::vector{TensorType{DType::int64, std::move(y)}};
}

struct NonZero {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const Shape& x = context.shape(0);
    std::vector<std::int64_t> found;
    bool certain = true;
    const bool known = with_elements(context, 0, [&](auto elements) {
      for (std::size_t i = 0; i < elements.size(); ++i) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(elements[i])>, Bounded>)
          certain =
              certain && !(elements[i].worst > 0.0 && std::fabs(elements[i].value) <= elements[i].worst);
        if (math::value(elements[i]) != 0) found.push_back(static_cast<std::int64_t>(i));
      }
    });
    if (!known) return unsupported("elements of this type are not compared with 0");
    if (!certain)
      return unsupported(
          "rounding in earlier nodes may have made an element 0 or not; record "
          "input 0 (X) to judge this node");
    if (!context.wants_output(0)) return {};
    const auto count = static_cast<std::int64_t>(found.size());
    DRIFTSCOPE_CHECK(context.allocate_output(0, DType::int64, {static_cast<std::int64_t>(x.size()), count}));
    const auto y = context.tensor_output(0).template mutable_values<std::int64_t>();
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::int64_t rest = found[i];
      for (std::size_t axis = x.size(); axis-- > 0;) {
        y[axis * found.size() + i] = rest % x[axis];
        rest /= x[axis];
      }
    }
    return {};
  }
};

// The chosen indices along an axis of this size (or of the flattened tensor).
std::vector<std::int64_t> chosen(const Tensor& condition, std::int64_t size) {
  std::vector<std::int64_t> places;
  const auto flags = condition.values<std::uint8_t>();
  const auto count = std::min(flags.size(), static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < count; ++i)
    if (flags[i] != 0) places.push_back(static_cast<std::int64_t>(i));
  return places;
}

Result<std::vector<TensorType>> infer_compress(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "input", Kinds::fixed_size));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "input", 1, max_rank));
  DRIFTSCOPE_CHECK(expect_rank(context, 1, "condition", 1, 1));
  const TensorType& condition = context.input(1);
  if (condition.dtype != DType::undefined && condition.dtype != DType::boolean)
    return bad_input(fmt::format("input 1 (condition): expected bool, got {}", dtype_name(condition.dtype)));
  TensorType y = context.input(0);
  const bool flat = context.node().attribute("axis") == nullptr;
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(context.node(), "axis", 0));
  if (!y.shape) {
    if (flat) y.shape = unknown_shape(1);
    return std::vector{std::move(y)};
  }
  std::size_t axis = 0;
  Dimension size;
  if (flat) {
    DRIFTSCOPE_TRY(size, multiply(*y.shape));
    y.shape = unknown_shape(1);
  } else {
    DRIFTSCOPE_TRY(axis, normalize_axis(given, y.shape->size()));
    size = (*y.shape)[axis];
  }
  (*y.shape)[axis] = Dimension{};
  if (context.constant(1) != nullptr && size.known())
    (*y.shape)[axis] =
        known_dimension(static_cast<std::int64_t>(chosen(*context.constant(1), size.size).size()));
  return std::vector{std::move(y)};
}

struct Compress {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(expect_certain(context, 1, "condition"));
    const Shape& x = context.shape(0);
    std::int64_t size = element_count(x);
    std::int64_t inner = 1;
    if (size == 0) return {};
    if (context.node().attribute("axis") != nullptr) {
      DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(context.node(), "axis", 0));
      DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, x.size()));
      size = x[axis];
      inner = element_count(std::span(x).subspan(axis + 1));
    }
    const std::vector<std::int64_t> places = chosen(context.tensor(1), size);
    constexpr std::array<std::size_t, 1> inputs = {0};
    move_elements(context, inputs, 0, [&](auto sources, auto target) {
      auto to = target.begin();
      const auto block = static_cast<std::size_t>(size * inner);
      for (std::size_t begin = 0; begin < sources[0].size(); begin += block)
        for (const std::int64_t place : places)
          to = std::copy_n(sources[0].data() + begin + place * inner, inner, to);
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<NonZero>(
      {.op_type = "NonZero", .since = 9, .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_non_zero}));
  table.add(with_kernels<Compress>(
      {.op_type = "Compress", .since = 9, .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_compress}));
}

}  // namespace driftscope::ops::non_zero
