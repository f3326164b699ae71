// What the engines tfjs-cpu, tfjs-wasm, tfjs-webgl and tfjs-webgpu have in common: TensorFlow.js, which gets
// the model as a graph model. Clients: their engine.cpp.
#pragma once

#include <string>
#include <vector>

#include "core/engines/peer/runtime.hpp"

namespace driftscope::tfjs {

/// A description without error model and options of its own. `backend`: as TensorFlow.js calls it; `more`:
/// files that it loads in addition to its bundle.
[[nodiscard]] peer::PeerInfo describe(const std::string& backend, std::string summary,
                                      const std::vector<std::string>& more = {});

/// For the GPU's backends: whether results of a few elements may be computed on the CPU, which is
/// TensorFlow.js's default.
[[nodiscard]] EngineOption cpu_forward_option();

}  // namespace driftscope::tfjs
