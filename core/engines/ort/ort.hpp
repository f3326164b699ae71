// ONNX Runtime, the runtime that users are most likely to use: the shared library natively, onnxruntime-web
// in a browser, the same version. It gets the user's own bytes. Clients: engine.cpp, native/peers/ort.
#pragma once

#include "core/engines/peer/runtime.hpp"

namespace driftscope::ort {

[[nodiscard]] const peer::PeerInfo& peer_info();

}  // namespace driftscope::ort
