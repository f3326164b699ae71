// The two ways in which ONNX addresses scattered elements: one index per element along one axis
// (GatherElements, ScatterElements), and tuples of indices that choose slices (GatherND, ScatterND).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/strided_view.hpp"

namespace driftscope {

/// GatherElements and ScatterElements: input `indices` has the rank of data (input 0), on all axes but
/// `axis` it is no larger; `axis` is valid.
[[nodiscard]] Status check_elementwise_indices(const InferContext& context, std::size_t indices,
                                               std::string_view name);

/// Calls body(i, base, stride) for every element i of `indices`, in row-major order: it addresses
/// the element of data at base + index·stride.
template <class Body>
void for_each_indexed(const Shape& data, const Shape& indices, std::size_t axis, const Body& body) {
  const Shape strides = dense_strides(data);
  const auto count = static_cast<std::size_t>(element_count(indices));
  Shape at(indices.size(), 0);
  std::int64_t base = 0;
  for (std::size_t i = 0; i < count; ++i) {
    body(i, base, strides[axis]);
    for (std::size_t d = indices.size(); d-- > 0;) {
      const std::int64_t stride = d == axis ? 0 : strides[d];
      base += stride;
      if (++at[d] < indices[d]) break;
      base -= stride * indices[d];
      at[d] = 0;
    }
  }
}

/// A tuple may not be longer than the axes it indexes.
[[nodiscard]] Status check_tuple_length(std::int64_t length, std::size_t axes, std::string_view name);

/// The start of the slices that the tuples of `indices` (input 1) choose, and their length.
struct TupleOffsets {
  std::vector<std::int64_t> offsets;
  std::int64_t slice = 1;
};
[[nodiscard]] Result<TupleOffsets> tuple_offsets(const Tensor& indices, const Shape& data,
                                                 std::size_t batch_dims, std::string_view name);

}  // namespace driftscope
