// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/gather.hpp"

#include <fmt/format.h>

#include <optional>

namespace driftscope::gpu {

namespace {

// The same as a walk, if no axis has limits or runs backwards.
std::optional<std::vector<WalkAxis>> as_walk(const std::vector<GatherAxis>& axes) {
  std::vector<WalkAxis> walk;
  for (const GatherAxis& axis : axes) {
    if (axis.limit != 0 || axis.shift != 0 || axis.stride < 0) return std::nullopt;
    walk.push_back({axis.size, {axis.stride}});
  }
  return joined(walk);
}

}  // namespace

GatherText gather_text(const std::vector<GatherAxis>& axes, std::int64_t offset, float fill) {
  GatherText text;
  text.fill = float_text(fill);
  if (const auto walk = as_walk(axes)) {
    const auto texels = offset % 4 == 0 ? in_texels(*walk) : std::nullopt;
    text.texels = texels.has_value();
    if (texels && texels->one_for_all[0])
      text.moved = fmt::format("T(in0_element({}))", place_of(texels->axes, 0, "i", offset));
    else if (texels)
      text.moved = fmt::format("in0_value({})", place_of(texels->axes, 0, "i", offset / 4));
    else
      text.moved = fmt::format("in0_value({})", place_of(*walk, 0, "i", offset));
    return text;
  }
  std::int64_t below = 1;
  for (const GatherAxis& axis : axes) below *= axis.size;
  std::string from = std::to_string(offset);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const GatherAxis& axis = axes[k];
    below /= axis.size;
    if (axis.size == 1 && axis.limit == 0 && axis.shift == 0) continue;
    text.coordinates +=
        fmt::format("  let c{}: i32 = i / {} % {} + ({});\n", k, below, axis.size, axis.shift);
    if (axis.limit != 0)
      text.within +=
          fmt::format("{}c{} >= 0 && c{} < {}", text.within.empty() ? "" : " && ", k, k, axis.limit);
    if (axis.stride != 0) from += fmt::format(" + c{} * ({})", k, axis.stride);
  }
  text.moved = fmt::format("in0_value({})", from);
  return text;
}

}  // namespace driftscope::gpu
