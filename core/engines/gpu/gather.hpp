// Elements from other places: where each element of a result comes from, axis by axis, as a shader writes it.
// Clients: the operators that move elements, the lowerings that emit their shaders.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/engines/gpu/indexing.hpp"

namespace driftscope::gpu {

/// One axis of the result, in the order of its memory: element c of it reads element c + shift of the
/// source's axis, `stride` elements apart (negative: backwards). With a limit, what lies outside [0, limit)
/// is filled.
struct GatherAxis {
  std::int64_t size = 1;
  std::int64_t stride = 0;
  std::int64_t shift = 0;
  std::int64_t limit = 0;  ///< 0: always inside
};

/// The same as a walk, if no axis has limits or runs backwards.
[[nodiscard]] std::optional<std::vector<WalkAxis>> as_walk(const std::vector<GatherAxis>& axes);

/// The parts of a shader: definitions of coordinates c0, c1, … of element i, whether they are inside, and the
/// place in the source.
struct GatherText {
  std::string coordinates;
  std::string within;
  std::string from;
};
/// `wgsl`: with WGSL's types, else GLSL's.
[[nodiscard]] GatherText gather_text(const std::vector<GatherAxis>& axes, std::int64_t offset, bool wgsl);

}  // namespace driftscope::gpu
