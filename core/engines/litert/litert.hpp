// What the engines litert-wasm, litert-webgpu and litert-webnn have in common: LiteRT.js, which gets the
// model as a .tflite file. Clients: their engine.cpp.
#pragma once

#include <string>
#include <vector>

#include "core/engines/peer/runtime.hpp"

namespace driftscope::litert {

/// A description without error model, place in lists and options of its own. `build`: the WebAssembly build
/// that it usually loads, for EngineInfo::browser_files.
[[nodiscard]] peer::PeerInfo describe(std::string name, std::string summary, const std::string& build);

/// XNNPACK in LiteRT.js's WebAssembly builds.
[[nodiscard]] ErrorModel wasm_model();

/// fp32 or fp16, for accelerators.
[[nodiscard]] EngineOption precision_option();

}  // namespace driftscope::litert
