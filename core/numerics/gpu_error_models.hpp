// The accuracy of shader arithmetic, as guaranteed by the specifications of the languages.
// Clients: engines that compute on a GPU (EngineInfo::error_model), verify for traces of other GPU engines.
#pragma once

#include "core/numerics/error_model.hpp"

namespace driftscope {

[[nodiscard]] ErrorModel wgsl_model();  ///< WebGPU
[[nodiscard]] ErrorModel glsl_model();  ///< WebGL 2: OpenGL ES 3.0

}  // namespace driftscope
