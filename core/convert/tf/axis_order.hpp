// In which order the axes of a value lie in another runtime: its axis i is our axis order[i]. An empty order
// is ours. Clients: the lowering and its operators, restoring values (core/engines/peer). It moves no
// elements of values that flow, only those of constants.
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/tensor.hpp"

namespace driftscope::tf {

using Order = std::vector<std::size_t>;

/// {0, 2, …, rank − 1, 1}; empty below rank 3.
[[nodiscard]] Order channels_last(std::size_t rank);

/// Empty if it leaves every axis in place.
[[nodiscard]] Order normalized(Order order);

/// What takes an axis of ours to its place there.
[[nodiscard]] Order inverse(const Order& order);

/// The order that leads from `from` to `to`, as the permutation of a transposition.
[[nodiscard]] Order between(const Order& from, const Order& to, std::size_t rank);

/// Our shape in this order.
[[nodiscard]] Shape ordered_shape(const Shape& shape, const Order& order);

/// Where our axis lies in this order.
[[nodiscard]] std::size_t place_of_axis(std::size_t axis, const Order& order);

/// Whether elements stay where they are in memory: only axes of size 1 move.
[[nodiscard]] bool keeps_memory(const Shape& shape, const Order& permutation);

/// The elements with axis i being axis permutation[i] of `tensor`. Elements of whole bytes.
[[nodiscard]] Result<Tensor> transposed(const Tensor& tensor, const Order& permutation);

}  // namespace driftscope::tf
