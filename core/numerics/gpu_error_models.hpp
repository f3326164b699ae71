// How exact the arithmetic of shaders is, as the specifications of their languages promise it.
// Clients: engines that compute on a GPU (EngineInfo::error_model), verify for traces of others that do.
#pragma once

#include "core/numerics/error_model.hpp"

namespace driftscope {

[[nodiscard]] ErrorModel wgsl_model();  ///< WebGPU
[[nodiscard]] ErrorModel glsl_model();  ///< WebGL 2: OpenGL ES 3.0

}  // namespace driftscope
