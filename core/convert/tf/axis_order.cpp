#include "core/convert/tf/axis_order.hpp"

#include <fmt/format.h>

#include <cstring>

namespace driftscope::tf {

Order channels_last(std::size_t rank) {
  if (rank < 3) return {};
  Order order = {0};
  for (std::size_t axis = 2; axis < rank; ++axis) order.push_back(axis);
  order.push_back(1);
  return order;
}

Order normalized(Order order) {
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] != i) return order;
  return {};
}

Order inverse(const Order& order) {
  Order result(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) result[order[i]] = i;
  return result;
}

Order between(const Order& from, const Order& to, std::size_t rank) {
  const Order places = inverse(from);
  Order result(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t axis = to.empty() ? i : to[i];
    result[i] = places.empty() ? axis : places[axis];
  }
  return normalized(std::move(result));
}

Shape ordered_shape(const Shape& shape, const Order& order) {
  if (order.empty()) return shape;
  Shape result(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) result[i] = shape[order[i]];
  return result;
}

std::size_t place_of_axis(std::size_t axis, const Order& order) {
  return order.empty() ? axis : inverse(order)[axis];
}

bool keeps_memory(const Shape& shape, const Order& permutation) {
  std::size_t last = 0;
  for (const std::size_t axis : permutation) {
    if (shape[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

Result<Tensor> transposed(const Tensor& tensor, const Order& permutation) {
  const Shape& from = tensor.shape();
  const Shape to = ordered_shape(from, permutation);
  if (keeps_memory(from, permutation)) return tensor.reshaped(to);
  const int bits = bits_per_element(tensor.dtype());
  if (bits < 8)
    return unsupported(fmt::format("elements of {} cannot be transposed", dtype_name(tensor.dtype())));
  const auto size = static_cast<std::size_t>(bits / 8);
  DRIFTSCOPE_TRY(Tensor result, Tensor::make(tensor.dtype(), to));
  std::vector<std::size_t> strides(from.size(), size);  // of `tensor`, in bytes
  for (std::size_t axis = from.size() - 1; axis-- > 0;)
    strides[axis] = strides[axis + 1] * static_cast<std::size_t>(from[axis + 1]);
  const std::byte* const source = tensor.bytes().data();
  std::byte* target = result.mutable_bytes().data();
  std::vector<std::int64_t> at(to.size(), 0);
  std::size_t offset = 0;
  for (std::int64_t i = 0; i < result.elements(); ++i, target += size) {
    std::memcpy(target, source + offset, size);
    for (std::size_t axis = to.size(); axis-- > 0;) {
      offset += strides[permutation[axis]];
      if (++at[axis] < to[axis]) break;
      offset -= strides[permutation[axis]] * static_cast<std::size_t>(to[axis]);
      at[axis] = 0;
    }
  }
  return result;
}

}  // namespace driftscope::tf
