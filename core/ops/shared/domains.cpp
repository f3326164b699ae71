// Compiled for size on the web (cmake/core.cmake).
#include "core/ops/shared/domains.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/graph/attributes.hpp"

namespace driftscope {

Status expect_shape(const InferContext& context, std::size_t index, std::string_view name,
                    const SymbolicShape& expected) {
  if (!context.has_input(index) || !context.input(index).shape) return {};
  const SymbolicShape& shape = *context.input(index).shape;
  bool fits = shape.size() == expected.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = unify(shape[i], expected[i]).has_value();
  if (fits) return {};
  return bad_input(fmt::format("{}: expected shape {}, got {}", input_label(index, name),
                               shape_text(expected), shape_text(shape)));
}

Status expect_elements(const InferContext& context, std::size_t index, std::string_view name,
                       std::int64_t expected, std::string_view why) {
  if (!context.has_input(index) || !context.input(index).shape) return {};
  const auto shape = concrete_shape(context.input(index).shape);
  if (!shape) return {};
  DRIFTSCOPE_TRY(const Dimension count, multiply(*context.input(index).shape));
  if (count.size == expected) return {};
  return bad_input(fmt::format("{}: expected {} elements ({}), got {} (shape {})", input_label(index, name),
                               expected, why, count.size, shape_text(*shape)));
}

Status expect_dtype(const InferContext& context, std::size_t index, std::string_view name,
                    std::initializer_list<DType> allowed) {
  if (!context.has_input(index)) return {};
  const DType dtype = context.input(index).dtype;
  if (dtype == DType::undefined || std::ranges::find(allowed, dtype) != allowed.end()) return {};
  std::string list;
  for (const DType one : allowed) list += (list.empty() ? "" : " or ") + std::string(dtype_name(one));
  return bad_input(fmt::format("{}: expected {}, got {}", input_label(index, name), list, dtype_name(dtype)));
}

Status expect_given(const InferContext& context, std::initializer_list<std::size_t> inputs,
                    std::span<const std::string_view> names) {
  for (const std::size_t i : inputs)
    if (!context.has_input(i))
      return bad_input(fmt::format("{}: it is required but omitted", input_label(i, names[i])));
  return {};
}

Result<std::int64_t> required_int(const Node& node, std::string_view name, std::int64_t min) {
  if (node.attribute(name) == nullptr) return bad_input(fmt::format("attribute {}: it is required", name));
  DRIFTSCOPE_TRY(const std::int64_t value, int_attribute(node, name, min));
  if (value < min)
    return bad_input(fmt::format("attribute {}: expected at least {}, got {}", name, min, value));
  return value;
}

Dimension dimension_of(const InferContext& context, std::size_t index, std::size_t axis) {
  if (!context.has_input(index) || !context.input(index).shape) return {};
  const SymbolicShape& shape = *context.input(index).shape;
  return axis < shape.size() ? shape[axis] : Dimension{};
}

Result<std::vector<TensorType>> like_input(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::floating));
  return std::vector{context.input(0)};
}

}  // namespace driftscope
