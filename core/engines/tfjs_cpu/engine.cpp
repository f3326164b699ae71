// TensorFlow.js in plain JavaScript: its reference backend.
#include "core/engines/peer/peer_engine.hpp"
#include "core/engines/tfjs/tfjs.hpp"

namespace driftscope {
namespace {

// Its kernels compute in JavaScript's doubles and round when they store. Measured under Node on every
// 40,009th float and 500,000 in [−20, 20] (tests/bench/tfjs_functions.mjs): all functions are correctly
// rounded but erf, a polynomial that is off by 1.53e-7 absolute, and softplus, which below −13.94 is eˣ (7.3
// ULP).
ErrorModel measured_model() {
  ErrorModel model;
  model.erf.absolute = 1.6e-7;
  model.gelu_erf.absolute = 1.6e-7;
  return model;
}

peer::PeerInfo described() {
  peer::PeerInfo info = tfjs::describe("cpu", "TensorFlow.js in JavaScript, on your model as a graph model");
  info.engine.error_model = measured_model();
  info.under_node = true;
  return info;
}

}  // namespace

std::unique_ptr<Engine> make_tfjs_cpu_engine() {
  static const peer::PeerInfo info = described();
  return std::make_unique<peer::PeerEngine>(info);
}

}  // namespace driftscope
