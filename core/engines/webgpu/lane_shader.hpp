// Dispatches of shaders that go over lanes (shaders/webgpu/lanes.wgsl). Clients: reduce, softmax,
// normalizations.
#pragma once

#include "core/engines/webgpu/lowering.hpp"
#include "core/ops/shared/lanes.hpp"

namespace driftscope::webgpu {

/// A workgroup for each lane where lanes are long and few, and the device is a GPU; else a thread. Adds SIZE,
/// INNER, LANES, WIDE, ROW and THREADS.
[[nodiscard]] Result<bool> emit_lanes(Lowering& lowering, std::string_view file, ShaderValues values,
                                      const Lanes& lanes, std::vector<BufferId> reads, BufferId write);

}  // namespace driftscope::webgpu
