// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/indexing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace driftscope::gpu {

std::vector<WalkAxis> joined(const std::vector<WalkAxis>& axes) {
  std::vector<WalkAxis> result;
  for (const WalkAxis& axis : axes) {
    if (axis.size == 1) continue;
    const auto continues = [&] {
      for (std::size_t i = 0; i < axis.strides.size(); ++i)
        if (result.back().strides[i] != axis.strides[i] * axis.size) return false;
      return true;
    };
    if (!result.empty() && continues()) {
      result.back().size *= axis.size;
      result.back().strides = axis.strides;
    } else {
      result.push_back(axis);
    }
  }
  return result;
}

std::vector<std::int64_t> broadcast_strides(const Shape& in_memory, std::size_t rank) {
  std::vector<std::int64_t> strides(rank, 0);
  std::int64_t stride = 1;
  for (std::size_t i = in_memory.size(); i-- > 0;) {
    if (in_memory[i] != 1) strides[i + rank - in_memory.size()] = stride;
    stride *= in_memory[i];
  }
  return strides;
}

std::string place_of(const std::vector<WalkAxis>& axes, std::size_t operand, std::string_view index,
                     std::int64_t offset) {
  std::int64_t count = 1;
  std::vector<WalkAxis> own;  // as few axes as this operand needs
  for (const WalkAxis& axis : axes) {
    count *= axis.size;
    own.push_back({axis.size, {axis.strides[operand]}});
  }
  std::string text = offset == 0 ? std::string() : std::to_string(offset);
  std::int64_t below = count;
  for (const WalkAxis& axis : joined(own)) {
    const std::int64_t above = below;
    below /= axis.size;
    const std::int64_t stride = axis.strides[0];
    if (stride == 0) continue;
    if (!text.empty()) text += " + ";
    text += index;
    if (below > 1) text += fmt::format(" / {}", below);
    if (above < count) text += fmt::format(" % {}", axis.size);
    if (stride > 1) text += fmt::format(" * {}", stride);
  }
  return text.empty() ? "0" : text;
}

std::optional<TexelWalk> in_texels(const std::vector<WalkAxis>& joined_axes) {
  if (joined_axes.empty() || joined_axes.back().size % 4 != 0) return std::nullopt;
  TexelWalk walk{joined_axes, {}};
  const std::size_t operands = joined_axes.back().strides.size();
  walk.axes.back().size /= 4;
  for (std::size_t i = 0; i < operands; ++i) {
    const std::int64_t innermost = joined_axes.back().strides[i];
    walk.one_for_all.push_back(innermost == 0);
    if (innermost == 0) continue;
    if (innermost != 1) return std::nullopt;
    for (std::size_t axis = 0; axis + 1 < joined_axes.size(); ++axis) {
      if (joined_axes[axis].strides[i] % 4 != 0) return std::nullopt;
      walk.axes[axis].strides[i] /= 4;
    }
  }
  return walk;
}

std::string float_text(float value) {
  constexpr float largest = std::numeric_limits<float>::max();
  if (std::isnan(value)) return "nan()";
  std::string text = fmt::format("{:.17g}", static_cast<double>(std::clamp(value, -largest, largest)));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return value < 0.0f ? "(" + text + ")" : text;
}

}  // namespace driftscope::gpu
