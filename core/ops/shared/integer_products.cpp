#include "core/ops/shared/integer_products.hpp"

#include <fmt/format.h>

namespace driftscope {

Status expect_bytes(const InferContext& context, std::size_t index, std::string_view name) {
  if (!context.has_input(index)) return {};
  const DType dtype = context.input(index).dtype;
  if (dtype == DType::undefined || dtype == DType::uint8 || dtype == DType::int8) return {};
  return bad_input(
      fmt::format("{}: expected uint8 or int8, got {}", input_label(index, name), dtype_name(dtype)));
}

Status check_one(const InferContext& context, std::size_t index, std::string_view name) {
  if (!context.has_input(index)) return {};
  const auto given = concrete_shape(context.input(index).shape);
  if (!given || element_count(*given) == 1) return {};
  return bad_input(
      fmt::format("{}: expected one number, got shape {}", input_label(index, name), shape_text(*given)));
}

Status check_per_channel(const InferContext& context, std::size_t index, std::string_view name,
                         const std::optional<SymbolicShape>& w) {
  if (!context.has_input(index) || !w || w->empty() || !w->front().known()) return {};
  const auto given = concrete_shape(context.input(index).shape);
  const std::int64_t channels = w->front().size;
  if (!given || element_count(*given) == 1 || (given->size() == 1 && given->front() == channels)) return {};
  return bad_input(fmt::format("{}: expected one number or {}, one per output channel, got shape {}",
                               input_label(index, name), channels, shape_text(*given)));
}

Status check_per_line(const InferContext& context, std::size_t index, std::string_view name,
                      const std::optional<SymbolicShape>& shape, std::size_t axis) {
  if (!context.has_input(index)) return {};
  const auto given = concrete_shape(context.input(index).shape);
  const auto whole = concrete_shape(shape);
  if (!given || !whole || element_count(*given) == 1) return {};
  Shape batched = *whole;
  if (whole->size() >= 2) batched[whole->size() - (axis == 1 ? 2 : 1)] = 1;
  const std::int64_t lines = whole->size() >= axis ? (*whole)[whole->size() - axis] : 1;
  if ((given->size() == 1 && given->front() == lines) || (whole->size() >= 2 && *given == batched)) return {};
  return bad_input(fmt::format("{}: expected a scalar, {} numbers or shape {}, got shape {}",
                               input_label(index, name), lines, shape_text(batched), shape_text(*given)));
}

std::vector<std::uint32_t> less_zero_points(const Tensor& values, const Tensor* zeros, std::int64_t rows,
                                            std::int64_t columns, bool per_row) {
  const std::vector<std::int32_t> from = quantized_values(values);
  std::vector<std::uint32_t> result(from.begin(), from.end());
  if (zeros == nullptr || from.empty()) return result;
  const std::vector<std::int32_t> zero = quantized_values(*zeros);
  const PerLine line(zeros->elements(), per_row ? rows : columns);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(result.size()); ++i) {
    const std::int64_t batch = i / (rows * columns);
    const std::int64_t at = per_row ? i / columns % rows : i % columns;
    result[static_cast<std::size_t>(i)] -= static_cast<std::uint32_t>(zero[line.at(batch, at)]);
  }
  return result;
}

}  // namespace driftscope
