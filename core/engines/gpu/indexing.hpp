// Where elements lie, as expressions of a shader with the sizes written into them. Clients: the operators,
// whose shaders go over a value's elements in the order of its memory.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/tensor.hpp"

namespace driftscope::gpu {

/// One axis of a walk: its size, and by how many elements a step along it moves in each of the operands.
struct WalkAxis {
  std::int64_t size = 1;
  std::vector<std::int64_t> strides;
};

/// Without axes of size 1, and neighbours joined that every operand walks through as one.
[[nodiscard]] std::vector<WalkAxis> joined(const std::vector<WalkAxis>& axes);

/// Of a value with this shape in memory, broadcast along `rank` axes: 0 where it has one element.
[[nodiscard]] std::vector<std::int64_t> broadcast_strides(const Shape& in_memory, std::size_t rank);

/// "offset + i / 12 % 3 * 4 + …": where element number `index` of the walk lies in an operand.
[[nodiscard]] std::string place_of(const std::vector<WalkAxis>& axes, std::size_t operand,
                                   std::string_view index, std::int64_t offset = 0);

/// The axes in steps of four elements of the innermost, if every operand can: it lies side by side there, or
/// (stride 0) has one element for all; then `one_for_all` says of which operands.
struct TexelWalk {
  std::vector<WalkAxis> axes;
  std::vector<bool> one_for_all;  ///< by operand; its strides remain in elements
};
[[nodiscard]] std::optional<TexelWalk> in_texels(const std::vector<WalkAxis>& joined_axes);

/// A number as shaders write a float32; infinities as the largest numbers, NaN as a call of the shader's nan.
[[nodiscard]] std::string float_text(float value);

}  // namespace driftscope::gpu
