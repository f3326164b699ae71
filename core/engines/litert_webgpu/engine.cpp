// LiteRT.js on WebGPU (ML Drift); what it cannot run there it runs on the CPU where the browser has JSPI.
#include "core/convert/tflite/to_tflite.hpp"
#include "core/engines/litert/litert.hpp"
#include "core/engines/peer/peer_engine.hpp"
#include "core/numerics/gpu_error_models.hpp"

namespace driftscope {
namespace {

// ML Drift keeps quantized tensors as the numbers they represent: floor((x − low) / scale + ½)·scale + low,
// with low the smallest of them. The integers in it are exact, so that only its last two operations count.
ErrorModel ml_drift_model() {
  ErrorModel model = wgsl_model();
  model.dequantizes_in_two_terms = true;
  return model;
}

peer::PeerInfo described() {
  peer::PeerInfo info = litert::describe(
      "litert-webgpu", "LiteRT.js on WebGPU, on your model as a .tflite file", "litert_wasm_jspi_internal");
  info.engine.order = 61;
  info.engine.device = DeviceKind::gpu;
  info.engine.browser_api = "WebGPU";
  info.engine.on_pc = false;
  info.engine.error_model = ml_drift_model();
  info.engine.options = {litert::precision_option()};
  info.convert = tflite::to_accelerator;
  return info;
}

}  // namespace

std::unique_ptr<Engine> make_litert_webgpu_engine() {
  static const peer::PeerInfo info = described();
  return std::make_unique<peer::PeerEngine>(info);
}

}  // namespace driftscope
