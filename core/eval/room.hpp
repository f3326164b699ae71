// Whether values in double precision may be allocated: they are limited as tensors are (alive_tensors.hpp),
// and by what a vector can hold. Clients: evaluated, node_results.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/base/result.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

/// `shape` of values of `bytes_each`. The error is that of no_room.
[[nodiscard]] Status expect_room(std::string_view what, const Shape& shape, std::size_t bytes_each);

/// They found no memory.
[[nodiscard]] Error no_room(std::string_view what, const Shape& shape, std::size_t bytes_each);

}  // namespace driftscope
