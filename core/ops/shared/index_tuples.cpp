#include "core/ops/shared/index_tuples.hpp"

#include <fmt/format.h>

#include "core/ops/shared/shape_rules.hpp"

namespace driftscope {

Status check_elementwise_indices(const InferContext& context, std::size_t indices, std::string_view name) {
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(context.node(), "axis", 0));
  const auto& x = context.input(0).shape;
  const auto& at = context.input(indices).shape;
  if (!x) return {};
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "data", 1, max_rank));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, x->size()));
  if (!at) return {};
  bool fits = at->size() == x->size();
  for (std::size_t i = 0; fits && i < x->size(); ++i)
    fits = i == axis || !(*x)[i].known() || !(*at)[i].known() || (*at)[i].size <= (*x)[i].size;
  if (fits) return {};
  return bad_input(
      fmt::format("{}: expected the rank of data (shape {}) and no larger an axis but axis {}, got shape {}",
                  input_label(indices, name), shape_text(*x), axis, shape_text(*at)));
}

Status check_tuple_length(std::int64_t length, std::size_t axes, std::string_view name) {
  if (length <= static_cast<std::int64_t>(axes)) return {};
  return bad_input(fmt::format("{}: tuples of {} indices for {} axes", input_label(1, name), length, axes));
}

Result<TupleOffsets> tuple_offsets(const Tensor& indices, const Shape& data, std::size_t batch_dims,
                                   std::string_view name) {
  const std::vector<std::int64_t> list = indices_of(indices);
  const Shape strides = dense_strides(data);
  const auto length = static_cast<std::size_t>(indices.shape().back());
  const Shape outer(indices.shape().begin(), indices.shape().end() - 1);
  const auto tuples = static_cast<std::size_t>(element_count(outer));
  // Tuples of one batch: those of the axes of `indices` after the batch axes.
  const std::int64_t per_batch = element_count(std::span(outer).subspan(batch_dims));
  std::int64_t batch_stride = 1;
  for (std::size_t i = batch_dims; i < data.size(); ++i) batch_stride *= data[i];
  TupleOffsets result;
  result.offsets.reserve(tuples);
  for (std::size_t axis = batch_dims + length; axis < data.size(); ++axis) result.slice *= data[axis];
  for (std::size_t t = 0; t < tuples; ++t) {
    std::int64_t offset = static_cast<std::int64_t>(t) / per_batch * batch_stride;
    for (std::size_t i = 0; i < length; ++i) {
      const std::size_t axis = batch_dims + i;
      const std::int64_t at = list[t * length + i];
      if (at < -data[axis] || at >= data[axis])
        return bad_input(fmt::format("{}: index {} is outside [{}, {}) of axis {}", input_label(1, name), at,
                                     -data[axis], data[axis], axis));
      offset += (at < 0 ? at + data[axis] : at) * strides[axis];
    }
    result.offsets.push_back(offset);
  }
  return result;
}

}  // namespace driftscope
