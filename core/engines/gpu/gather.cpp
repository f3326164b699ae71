#include "core/engines/gpu/gather.hpp"

#include <fmt/format.h>

namespace driftscope::gpu {

std::optional<std::vector<WalkAxis>> as_walk(const std::vector<GatherAxis>& axes) {
  std::vector<WalkAxis> walk;
  for (const GatherAxis& axis : axes) {
    if (axis.limit != 0 || axis.shift != 0 || axis.stride < 0) return std::nullopt;
    walk.push_back({axis.size, {axis.stride}});
  }
  return joined(walk);
}

GatherText gather_text(const std::vector<GatherAxis>& axes, std::int64_t offset, bool wgsl) {
  GatherText text;
  std::int64_t below = 1;
  for (const GatherAxis& axis : axes) below *= axis.size;
  std::string sum = std::to_string(offset);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const GatherAxis& axis = axes[k];
    below /= axis.size;
    if (axis.size == 1 && axis.limit == 0 && axis.shift == 0) continue;
    const std::string at = wgsl ? fmt::format("i32(i / {}u % {}u)", below, axis.size)
                                : fmt::format("i / {} % {}", below, axis.size);
    text.coordinates += fmt::format("  {} c{} = {} + ({});\n", wgsl ? "let" : "int", k, at, axis.shift);
    if (axis.limit != 0)
      text.within +=
          fmt::format("{}c{} >= 0 && c{} < {}", text.within.empty() ? "" : " && ", k, k, axis.limit);
    if (axis.stride != 0) sum += fmt::format(" + c{} * ({})", k, axis.stride);
  }
  if (text.within.empty()) text.within = "true";
  text.from = wgsl ? fmt::format("u32({})", sum) : sum;
  return text;
}

}  // namespace driftscope::gpu
