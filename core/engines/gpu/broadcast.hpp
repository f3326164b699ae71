// Elementwise functions of several values with broadcasting: in which layout all of them are read, so that
// nothing is moved, and how each is walked. Clients: the operators of GPU engines. It emits nothing.
#pragma once

#include <optional>
#include <vector>

#include "core/engines/gpu/indexing.hpp"
#include "core/engines/gpu/lowering.hpp"

namespace driftscope::gpu {

struct Broadcast {
  lowering::Layout layout;                 ///< of the result
  std::vector<lowering::Layout> operands;  ///< the layout each is read in
  std::vector<WalkAxis> axes;              ///< over the result's memory, a stride for each operand
  bool all_whole = true;                   ///< every operand has the result's shape
};

/// Of float32 and bool inputs of a node and its float32 result; nothing where strict has to do it (an input
/// of another type, or one that is broadcast otherwise than from the right).
[[nodiscard]] std::optional<Broadcast> plan_broadcast(const GpuLowering& lowering, const Node& node,
                                                      ValueId output);

}  // namespace driftscope::gpu
