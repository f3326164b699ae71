// Captured values as outputs of their own. Client: to_tflite.cpp.
#pragma once

#include <string>
#include <vector>

#include "core/convert/tf/from_onnx.hpp"

namespace driftscope::tflite {

/// Replaces each captured value of float32 that other nodes read, as an output, by a copy of it (its product
/// with 1). Accelerators fuse a node into its only reader even where its result is an output of the model,
/// which then is never written; with the copy it has two readers. The copy is not a maximum of the value with
/// itself, for which LiteRT.js 2.5.3 returns zeros on WebGPU. Errors: memory.
[[nodiscard]] Status copy_captured(tf::Lowered& lowered, const std::vector<std::string>& captured);

}  // namespace driftscope::tflite
