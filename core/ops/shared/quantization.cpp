#include "core/ops/shared/quantization.hpp"

#include <fmt/format.h>

#include "core/graph/attributes.hpp"
#include "core/model/tensor_elements.hpp"

namespace driftscope {

std::optional<IntegerRange> quantized_range(DType dtype) {
  std::optional<IntegerRange> range;
  visit_number(dtype, [&]<class E>() {
    if constexpr (E::kind == ElementKind::integer) {
      if constexpr (E::digits < 32) range = IntegerRange{E::lowest, E::largest};
    }
  });
  return range;
}

std::vector<std::int32_t> quantized_values(const Tensor& tensor) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(tensor.elements()));
  visit_number(tensor.dtype(), [&]<class E>() {
    if constexpr (E::kind == ElementKind::integer) {
      const auto from = elements_of<E>(tensor);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(from[i]);
    }
  });
  return values;
}

void store_quantized(std::span<const std::int32_t> values, Tensor& tensor) {
  visit_number(tensor.dtype(), [&]<class E>() {
    if constexpr (E::kind != ElementKind::integer) {
      return;
    } else if constexpr (E::packed) {
      for (std::size_t i = 0; i < values.size(); ++i)
        store_packed(tensor, i, static_cast<unsigned>(values[i]));
    } else {
      const auto to = tensor.mutable_values<typename E::Stored>();
      for (std::size_t i = 0; i < values.size(); ++i) to[i] = static_cast<typename E::Stored>(values[i]);
    }
  });
}

Result<ScaleLayout> scale_layout(const Node& node, const Shape& x, const Shape& scale) {
  ScaleLayout layout;
  std::int64_t block = 0;
  if (node.opset >= 21) {
    DRIFTSCOPE_TRY(block, int_attribute(node, "block_size", 0));
    if (block < 0) return bad_input(fmt::format("attribute block_size: expected at least 0, got {}", block));
  }
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", 1));
  // One number applies to the whole tensor, whatever the axis.
  if (scale.empty() || (block == 0 && element_count(scale) == 1)) {
    layout.inner = element_count(x);
    return layout;
  }
  if (node.opset < 13)
    return bad_input(
        fmt::format("input 1 (scale): expected a scalar before opset 13, got shape {}", shape_text(scale)));
  auto normal = normalize_axis(given, x.size());
  if (!normal.ok()) return in_context(std::move(normal).error(), "attribute axis");
  const std::size_t axis = *normal;
  for (std::size_t i = 0; i < axis; ++i) layout.outer *= x[i];
  for (std::size_t i = axis + 1; i < x.size(); ++i) layout.inner *= x[i];
  layout.size = x[axis];
  layout.per_tensor = false;
  if (block == 0) {
    if (scale.size() != 1 || scale[0] != x[axis])
      return bad_input(
          fmt::format("input 1 (scale): expected a scalar or {} numbers as x has on axis "
                      "{}, got shape {}",
                      x[axis], axis, shape_text(scale)));
    return layout;
  }
  Shape expected = x;
  expected[axis] = x[axis] / block + (x[axis] % block != 0 ? 1 : 0);
  if (scale != expected)
    return bad_input(
        fmt::format("input 1 (scale): expected shape {} with blocks of {} on axis {}, got shape {}",
                    shape_text(expected), block, axis, shape_text(scale)));
  layout.block = block;
  return layout;
}

Status check_scales(const InferContext& context, std::string_view x_name) {
  if (context.input(1).dtype != DType::float8e8m0)
    DRIFTSCOPE_CHECK(expect_kind(context, 1, fmt::format("{}_scale", x_name), Kinds::floating));
  const auto& scale = context.input(1).shape;
  if (context.has_input(2) && scale && context.input(2).shape) {
    const auto& zero = *context.input(2).shape;
    bool fits = zero.size() == scale->size();
    for (std::size_t i = 0; fits && i < zero.size(); ++i) fits = unify(zero[i], (*scale)[i]).has_value();
    // A scalar and a vector of one element are both written for "per tensor".
    const auto one = [](const SymbolicShape& shape) {
      return shape.empty() || (shape.size() == 1 && shape[0].size == 1);
    };
    if (!fits && !(one(zero) && one(*scale)))
      return bad_input(
          fmt::format("input 2 ({}_zero_point): expected shape {} as the scale has, got "
                      "shape {}",
                      x_name, shape_text(*scale), shape_text(zero)));
  }
  const auto x = concrete_shape(context.input(0).shape);
  const auto known = concrete_shape(scale);
  if (x && known) {
    DRIFTSCOPE_TRY([[maybe_unused]] const ScaleLayout layout, scale_layout(context.node(), *x, *known));
  }
  return {};
}

}  // namespace driftscope
