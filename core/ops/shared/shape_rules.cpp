// Compiled for size on the web (cmake/core.cmake).
#include "core/ops/shared/shape_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/checked.hpp"
#include "core/graph/attributes.hpp"

namespace driftscope {

std::string input_label(std::size_t index, std::string_view name) {
  return fmt::format("input {} ({})", index, name);
}

SymbolicShape symbolic_shape(std::span<const std::int64_t> shape) {
  SymbolicShape result;
  result.reserve(shape.size());
  for (const std::int64_t size : shape) result.push_back(known_dimension(size));
  return result;
}

SymbolicShape unknown_shape(std::size_t rank) { return SymbolicShape(rank); }

std::optional<Shape> concrete_shape(const std::optional<SymbolicShape>& shape) {
  if (!shape) return std::nullopt;
  Shape result;
  for (const Dimension& dimension : *shape) {
    if (!dimension.known()) return std::nullopt;
    result.push_back(dimension.size);
  }
  return result;
}

std::optional<Dimension> unify(const Dimension& a, const Dimension& b) {
  if (a.known() && b.known() && a.size != b.size) return std::nullopt;
  if (a.known()) return a;
  if (b.known()) return b;
  return a.symbol.empty() ? b : a;
}

Result<Dimension> multiply(std::span<const Dimension> dimensions) {
  for (const Dimension& dimension : dimensions)
    if (dimension.size == 0) return known_dimension(0);
  std::int64_t product = 1;
  std::vector<Dimension> unknown;
  for (const Dimension& dimension : dimensions) {
    if (!dimension.known()) {
      unknown.push_back(dimension);
      continue;
    }
    const auto next = checked_mul(product, dimension.size);
    if (!next) return bad_input("the number of elements does not fit in 64 bits");
    product = *next;
  }
  if (unknown.empty()) return known_dimension(product);
  if (unknown.size() == 1 && product == 1) return unknown.front();
  return Dimension{};
}

Result<SymbolicShape> broadcast(const SymbolicShape& a, const SymbolicShape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  SymbolicShape result(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    // Aligned at the end; missing leading dimensions are 1.
    const Dimension left = i + a.size() < rank ? known_dimension(1) : a[i + a.size() - rank];
    const Dimension right = i + b.size() < rank ? known_dimension(1) : b[i + b.size() - rank];
    if (left.size == 1) {
      result[i] = right;
    } else if (right.size == 1 || left == right) {
      result[i] = left;
    } else if (left.known() && right.known()) {
      return bad_input(
          fmt::format("shapes {} and {} cannot be broadcast: {} against {}, expected equal sizes or a 1",
                      shape_text(a), shape_text(b), left.size, right.size));
    } else if (left.known() || right.known()) {
      // The unknown one is 1 or equal, either way the known one (not 1) is the result.
      result[i] = left.known() ? left : right;
    }
  }
  return result;
}

namespace {

bool is_of_kind(DType dtype, Kinds kinds) {
  const bool is_unsigned =
      dtype == DType::uint8 || dtype == DType::uint16 || dtype == DType::uint32 || dtype == DType::uint64;
  const bool integer = is_unsigned || dtype == DType::int8 || dtype == DType::int16 ||
                       dtype == DType::int32 || dtype == DType::int64;
  switch (kinds) {
    case Kinds::floating: return is_floating(dtype);
    case Kinds::integer: return integer;
    case Kinds::unsigned_integer: return is_unsigned;
    case Kinds::boolean: return dtype == DType::boolean;
    case Kinds::numeric: return integer || is_floating(dtype);
    case Kinds::numeric_or_bool: return integer || is_floating(dtype) || dtype == DType::boolean;
    case Kinds::fixed_size: return dtype != DType::string;
  }
  return false;
}

std::string_view kinds_text(Kinds kinds) {
  switch (kinds) {
    case Kinds::floating: return "a floating-point type";
    case Kinds::integer: return "an integer type";
    case Kinds::unsigned_integer: return "an unsigned integer type";
    case Kinds::boolean: return "bool";
    case Kinds::numeric: return "a floating-point or integer type";
    case Kinds::numeric_or_bool: return "a floating-point or integer type or bool";
    case Kinds::fixed_size: return "a type of fixed size";
  }
  return "";
}

}  // namespace

Status expect_kind(const InferContext& context, std::size_t index, std::string_view name, Kinds kinds) {
  if (!context.has_input(index)) return {};
  const DType dtype = context.input(index).dtype;
  if (dtype == DType::undefined || is_of_kind(dtype, kinds)) return {};
  return bad_input(
      fmt::format("{}: expected {}, got {}", input_label(index, name), kinds_text(kinds), dtype_name(dtype)));
}

Status expect_default(const InferContext& context, std::string_view attribute) {
  DRIFTSCOPE_TRY(const std::int64_t value, int_attribute(context.node(), attribute, 0));
  if (value == 0) return {};
  return unsupported(fmt::format("attribute {} = {} is not known here", attribute, value));
}

Result<DType> common_dtype(const InferContext& context, std::span<const std::string_view> names) {
  DType common = DType::undefined;
  std::size_t first = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!context.has_input(i) || context.input(i).dtype == DType::undefined) continue;
    const DType dtype = context.input(i).dtype;
    if (common == DType::undefined) {
      common = dtype;
      first = i;
    } else if (dtype != common) {
      return bad_input(fmt::format("{}: expected {} as {} has, got {}", input_label(i, names[i]),
                                   dtype_name(common), input_label(first, names[first]), dtype_name(dtype)));
    }
  }
  return common;
}

Status expect_rank(const InferContext& context, std::size_t index, std::string_view name, std::size_t min,
                   std::size_t max) {
  if (!context.has_input(index) || !context.input(index).shape) return {};
  const std::size_t rank = context.input(index).shape->size();
  if (rank >= min && rank <= max) return {};
  const std::string expected = min == max               ? fmt::format("{}", min)
                               : max == std::size_t(-1) ? fmt::format("at least {}", min)
                                                        : fmt::format("{} to {}", min, max);
  return bad_input(fmt::format("{}: expected rank {}, got shape {}", input_label(index, name), expected,
                               shape_text(*context.input(index).shape)));
}

Result<std::vector<std::int64_t>> integers_of(const Tensor& tensor, const std::string& label) {
  if (tensor.rank() > 1)
    return bad_input(fmt::format("{}: expected a vector, got shape {}", label, shape_text(tensor.shape())));
  if (tensor.dtype() == DType::int64) {
    const auto values = tensor.values<std::int64_t>();
    return std::vector<std::int64_t>(values.begin(), values.end());
  }
  if (tensor.dtype() == DType::int32) {
    const auto values = tensor.values<std::int32_t>();
    return std::vector<std::int64_t>(values.begin(), values.end());
  }
  return bad_input(fmt::format("{}: expected int64, got {}", label, dtype_name(tensor.dtype())));
}

}  // namespace driftscope
