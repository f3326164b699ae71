// TensorFlow.js on WebGL, in browsers alone.
#include "core/engines/peer/peer_engine.hpp"
#include "core/engines/tfjs/tfjs.hpp"
#include "core/numerics/gpu_error_models.hpp"

namespace driftscope {
namespace {

peer::PeerInfo described() {
  peer::PeerInfo info = tfjs::describe("webgl", "TensorFlow.js on WebGL, on your model as a graph model");
  info.engine.order = 51;
  info.engine.device = DeviceKind::gpu;
  info.engine.browser_api = "WebGL with float textures";
  info.engine.on_pc = false;
  info.engine.error_model = glsl_model();
  info.engine.options = {{.name = "precision",
                          .help = "the textures that values are kept in (WEBGL_FORCE_F16_TEXTURES)",
                          .values = {"fp32", "fp16"},
                          .default_text = "fp32"},
                         {.name = "pack",
                          .help = "whether four elements share a texel (WEBGL_PACK)",
                          .values = {"on", "off"},
                          .default_text = "on"},
                         tfjs::cpu_forward_option()};
  return info;
}

}  // namespace

std::unique_ptr<Engine> make_tfjs_webgl_engine() {
  static const peer::PeerInfo info = described();
  return std::make_unique<peer::PeerEngine>(info);
}

}  // namespace driftscope
