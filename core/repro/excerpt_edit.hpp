// Changes of an excerpt: other sizes and values. Clients: reduce, parameter_table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/repro/excerpt.hpp"

namespace driftscope {

/// An axis of a weight or an input of the excerpt, by the value's number.
struct ExcerptAxis {
  ValueId value = no_value;
  std::size_t axis = 0;
};

/// Of a weight or an input; null of other values.
[[nodiscard]] Tensor* tensor_of(Excerpt& excerpt, ValueId id);
[[nodiscard]] const Tensor* tensor_of(const Excerpt& excerpt, ValueId id);

/// Values whose sizes may change: inputs and weights, once each.
[[nodiscard]] std::vector<ValueId> given_values(const Excerpt& excerpt);

/// Of a value; its tensor is the caller's business.
void set_shape(Excerpt& excerpt, ValueId id, const Shape& shape);

/// `size` slices along an axis: the first ones, or the last ones; where there are fewer, again from the
/// first. Nothing for elements of less than a byte, or where memory runs out.
[[nodiscard]] std::optional<Tensor> with_axis_of(const Tensor& tensor, std::size_t axis, std::int64_t size,
                                                 bool last = false);

/// Convolutions with as many groups as `own` get `size` of them: a depthwise one's go with its
/// channels. False:
/// there are none.
bool follow_groups(Excerpt& excerpt, std::int64_t own, std::int64_t size);

/// Computes sizes and type of what the nodes make, before a target is asked. False: the reference refuses it,
/// or the output has no elements.
[[nodiscard]] bool complete(Excerpt& excerpt, ThreadPool& threads);

}  // namespace driftscope
