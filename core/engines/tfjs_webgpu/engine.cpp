// TensorFlow.js on WebGPU, in browsers alone.
#include "core/engines/peer/peer_engine.hpp"
#include "core/engines/tfjs/tfjs.hpp"
#include "core/numerics/gpu_error_models.hpp"

namespace driftscope {
namespace {

peer::PeerInfo described() {
  peer::PeerInfo info = tfjs::describe("webgpu", "TensorFlow.js on WebGPU, on your model as a graph model");
  info.engine.order = 52;
  info.engine.device = DeviceKind::gpu;
  info.engine.browser_api = "WebGPU";
  info.engine.on_pc = false;
  info.engine.error_model = wgsl_model();
  info.engine.options = {tfjs::cpu_forward_option()};
  return info;
}

}  // namespace

std::unique_ptr<Engine> make_tfjs_webgpu_engine() {
  static const peer::PeerInfo info = described();
  return std::make_unique<peer::PeerEngine>(info);
}

}  // namespace driftscope
