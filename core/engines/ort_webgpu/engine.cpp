// ONNX Runtime Web on WebGPU, in browsers alone: what it cannot run there it runs on the CPU or declines.
#include "core/engines/peer/peer_engine.hpp"
#include "core/numerics/gpu_error_models.hpp"

namespace driftscope {
namespace {

// The GPU's, and where ONNX Runtime computes on the CPU instead that of core/engines/ort.
ErrorModel mixed_model() {
  ErrorModel model = wgsl_model();
  model.sigmoid.absolute = 2e-7;
  model.rnn_absolute = 2e-7;
  model.records_rounded = true;
  return model;
}

const peer::PeerInfo& ort_webgpu_info() {
  static const peer::PeerInfo info = {
      .engine = {.name = "ort-webgpu",
                 .summary = "ONNX Runtime Web on WebGPU, on your own model file",
                 .order = 41,
                 .kind = EngineKind::peer,
                 .device = DeviceKind::gpu,
                 .on_pc = false,
                 .error_model = mixed_model(),
                 .options = {{.name = "opt",
                              .help = "how far ONNX Runtime may rewrite the graph",
                              .values = {"none", "basic", "extended", "all"},
                              .default_text = "all"},
                             peer::build_option({"webgpu", "all", "jspi"})},
                 .dotted_options = "ONNX Runtime's own session configuration, as session.x64quantprecision=1",
                 .browser_files = {"ort-webgpu/ort.webgpu.bundle.min.mjs",
                                   "ort-webgpu/ort-wasm-simd-threaded.asyncify.wasm"},
                 .browser_api = "WebGPU"},
      .title = "ONNX Runtime Web on WebGPU",
      .version = DRIFTSCOPE_ONNXRUNTIME_VERSION,
      .without_rewriting = {{"opt", "none"}},
      .in_browsers =
          {.title = "ONNX Runtime Web on WebGPU",
           .package = "onnxruntime-web",
           .lacking = {DType::bfloat16},
           .hides_rewritten =
               "ONNX Runtime writes the optimised model only to a file, and onnxruntime-web has no files"},
      .releases = {.in_browsers = {{"onnxruntime-web", "dist/", ""}}, .since = "1.18.0"}};
  return info;
}

}  // namespace

std::unique_ptr<Engine> make_ort_webgpu_engine() {
  return std::make_unique<peer::PeerEngine>(ort_webgpu_info());
}

}  // namespace driftscope
