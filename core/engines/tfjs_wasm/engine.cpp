// TensorFlow.js on WebAssembly: XNNPACK, and kernels of its own.
#include "core/engines/peer/peer_engine.hpp"
#include "core/engines/tfjs/tfjs.hpp"

namespace driftscope {
namespace {

// Measured under Node with SIMD on every 40,009th float and 500,000 in [−20, 20]
// (tests/bench/tfjs_functions.mjs): sigmoid 3.4 ULP, tanh 2.0, exp, log, erf, tan, the inverse and hyperbolic
// ones below 1.7, 1/√ 1.5; sin and cos 2.5e-7 and 3.3e-7 absolute up to |x| = 10⁵, by any amount from 10²¹
// on; softplus is eˣ below −13.94 (7.3 ULP).
ErrorModel measured_model() {
  ErrorModel model;
  model.sin.absolute = 3.5e-7;
  model.sin.reach = 1e5;
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
