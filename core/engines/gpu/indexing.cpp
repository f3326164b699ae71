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
                     std::int64_t offset, std::string_view suffix) {
  std::int64_t count = 1;
  for (const WalkAxis& axis : axes) count *= axis.size;
  std::string text = offset == 0 ? std::string() : fmt::format("{}{}", offset, suffix);
  std::int64_t below = count;
  for (const WalkAxis& axis : axes) {
    const std::int64_t above = below;
    below /= axis.size;
    const std::int64_t stride = axis.strides[operand];
    if (stride == 0) continue;
    if (!text.empty()) text += " + ";
    text += index;
    if (below > 1) text += fmt::format(" / {}{}", below, suffix);
    if (above < count) text += fmt::format(" % {}{}", axis.size, suffix);
    if (stride > 1) text += fmt::format(" * {}{}", stride, suffix);
  }
  return text.empty() ? fmt::format("0{}", suffix) : text;
}

std::string float_text(float value) {
  constexpr float largest = std::numeric_limits<float>::max();
  if (std::isnan(value)) return "bitcast<f32>(0x7fc00000u)";
  std::string text = fmt::format("{:.17g}", static_cast<double>(std::clamp(value, -largest, largest)));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return value < 0.0f ? "(" + text + ")" : text;
}

}  // namespace driftscope::gpu
