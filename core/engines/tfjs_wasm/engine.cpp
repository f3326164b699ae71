// TensorFlow.js on WebAssembly: XNNPACK, and kernels of its own.
#include "core/engines/peer/peer_engine.hpp"
#include "core/engines/tfjs/tfjs.hpp"

namespace driftscope {
namespace {

ErrorModel measured_model() {
  ErrorModel model;
  return model;
}

peer::PeerInfo described() {
  peer::PeerInfo info = tfjs::describe(
      "wasm", "TensorFlow.js on WebAssembly, on your model as a graph model",
      {"tfjs-backend-wasm.wasm", "tfjs-backend-wasm-simd.wasm", "tfjs-backend-wasm-threaded-simd.wasm"});
  info.engine.error_model = measured_model();
  info.engine.options = {threads_option(),
                         {.name = "simd",
                          .help = "whether it may use SIMD, without which it has no threads either",
                          .values = {"on", "off"},
                          .default_text = "on"}};
  info.under_node = true;
  return info;
}

}  // namespace

std::unique_ptr<Engine> make_tfjs_wasm_engine() {
  static const peer::PeerInfo info = described();
  return std::make_unique<peer::PeerEngine>(info);
}

}  // namespace driftscope
