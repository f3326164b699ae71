// ONNX Runtime Web on WebGL, in browsers alone: what it cannot run there it runs on the CPU or declines.
#include "core/engines/peer/peer_engine.hpp"
#include "core/numerics/gpu_error_models.hpp"

namespace driftscope {
namespace {

// The GPU's, and where ONNX Runtime computes on the CPU instead that of core/engines/ort.
ErrorModel mixed_model() {
  ErrorModel model = glsl_model();
  model.sigmoid.absolute = 2e-7;
  model.rnn_absolute = 2e-7;
  model.records_rounded = true;
  return model;
}

const peer::PeerInfo& ort_webgl_info() {
  static const peer::PeerInfo info = {
      .engine = {.name = "ort-webgl",
                 .summary = "ONNX Runtime Web on WebGL, on your own model file",
                 .order = 42,
                 .kind = EngineKind::peer,
                 .device = DeviceKind::gpu,
                 .on_pc = false,
                 .error_model = mixed_model(),
                 .options = {{.name = "opt",
                              .help = "how far ONNX Runtime may rewrite the graph",
                              .values = {"none", "basic", "extended", "all"},
                              .default_text = "all"},
                             peer::build_option({"webgl", "all"})},
                 .dotted_options = "ONNX Runtime's own session configuration, as session.x64quantprecision=1",
                 .browser_files = {"ort-webgl/ort.webgl.min.mjs"},
                 .browser_api = "WebGL"},
      .title = "ONNX Runtime Web on WebGL",
      .version = DRIFTSCOPE_ONNXRUNTIME_VERSION,
      .without_rewriting = {{"opt", "none"}},
      .in_browsers =
          {.title = "ONNX Runtime Web on WebGL",
           .package = "onnxruntime-web",
           .lacking = {DType::bfloat16},
           .hides_rewritten =
               "ONNX Runtime writes the optimised model only to a file, and onnxruntime-web has no files"},
      .releases = {.in_browsers = {{"onnxruntime-web", "dist/", ""}}, .since = "1.18.0"},
      .wants_types = true};
  return info;
}

}  // namespace

std::unique_ptr<Engine> make_ort_webgl_engine() {
  return std::make_unique<peer::PeerEngine>(ort_webgl_info());
}

}  // namespace driftscope
