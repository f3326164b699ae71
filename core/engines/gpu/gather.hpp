// Elements from other places: where each element of a result comes from, axis by axis, as a shader writes it.
// Clients: the operators that move elements, the lowering that emits their shader.
#pragma once

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

/// What shaders/gpu/move.wgsl consists of, for each element, or each four of them.
struct GatherText {
  bool texels = false;
  std::string coordinates;  ///< definitions of c0, c1, … where they are needed
  std::string within;       ///< whether they are inside; empty: always
  std::string moved;        ///< reads the source
  std::string fill;         ///< what is outside
};
[[nodiscard]] GatherText gather_text(const std::vector<GatherAxis>& axes, std::int64_t offset, float fill);

}  // namespace driftscope::gpu
