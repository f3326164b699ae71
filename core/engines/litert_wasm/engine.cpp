// LiteRT.js on the CPU: TensorFlow Lite with XNNPACK, as WebAssembly.
#include "core/engines/litert/litert.hpp"
#include "core/engines/peer/peer_engine.hpp"

namespace driftscope {
namespace {

peer::PeerInfo described() {
  peer::PeerInfo info = litert::describe(
      "litert-wasm", "LiteRT.js on the CPU, on your model as a .tflite file", "litert_wasm_internal");
  info.engine.order = 60;
  info.engine.error_model = litert::wasm_model();
  info.engine.options = {threads_option()};
  info.under_node = true;
  return info;
}

}  // namespace

std::unique_ptr<Engine> make_litert_wasm_engine() {
  static const peer::PeerInfo info = described();
  return std::make_unique<peer::PeerEngine>(info);
}

}  // namespace driftscope
