#include "core/engines/ort/ort.hpp"
#include "core/engines/peer/peer_engine.hpp"

namespace driftscope {
namespace ort {
namespace {

// ONNX Runtime 1.30 guarantees nothing; measured on every 1021st float and 3·10⁶ in [−20, 20], on AVX-512
// and as wasm, the larger of the two: tanh 6.4 ULP, sigmoid 1.9e-7 absolute beyond 4 ULP (MLAS clamps its
// argument at ±18), asin 4.3 ULP, atan 3.8, log 3.4, exp, erf, sinh and the others below 2.2. Tanh inside
// RNN is 2σ(2x) − 1 (1.5e-7 absolute beyond 1 ULP; measured on AVX2); GRU and LSTM use the operator's.
// Its Softmax uses e⁻⁸⁸·⁴ for all smaller values: its functions are not checked in the subnormal range.
// Nodes that have no float16 kernel run in float32 and pass that on; recorded values were rounded for it.
ErrorModel measured_model() {
  ErrorModel model;
  model.tanh.ulp = 7.0;
  model.sigmoid.absolute = 2e-7;
  model.asin.ulp = 5.0;
  model.rnn_absolute = 2e-7;
  model.records_rounded = true;
  return model;
}

// NCHWc, and NHWC of the extended optimisations.
bool has_onnx_layout(const OutlineNode& node) {
  return node.domain.find("nchwc") == std::string::npos && node.domain.find("nhwc") == std::string::npos &&
         !node.op_type.starts_with("Nhwc");
}

}  // namespace

const peer::PeerInfo& peer_info() {
  static const peer::PeerInfo info = {
      .engine = {.name = "ort",
                 .summary = "ONNX Runtime, on your own model file",
                 .order = 40,
                 .kind = EngineKind::peer,
                 .error_model = measured_model(),
                 .options = {threads_option(),
                             {.name = "opt",
                              .help = "how far ONNX Runtime may rewrite the graph",
                              .values = {"none", "basic", "extended", "all"},
                              .default_text = "all"}},
                 .dotted_options = "ONNX Runtime's own session configuration, as session.x64quantprecision=1",
                 .browser_files = {"ort/ort.wasm.bundle.min.mjs", "ort/ort-wasm-simd-threaded.wasm"}},
      .title = "ONNX Runtime",
      .version = DRIFTSCOPE_ONNXRUNTIME_VERSION,
      .without_rewriting = {{"opt", "none"}},
      .in_onnx_layout = has_onnx_layout,
      .in_browsers =
          {.title = "ONNX Runtime Web",
           .package = "onnxruntime-web",
           .lacking = {DType::bfloat16},
           .hides_rewritten =
               "ONNX Runtime writes the optimised model only to a file, and onnxruntime-web has no files"},
      .releases = {.in_browsers = {{"onnxruntime-web", "dist/", ""}},
                   .native = {{"onnxruntime-node", "bin/", "/" DRIFTSCOPE_NODE_PLATFORM "/"}},
                   .since = "1.18.0"}};
  return info;
}

}  // namespace ort

std::unique_ptr<Engine> make_ort_engine() { return std::make_unique<peer::PeerEngine>(ort::peer_info()); }

}  // namespace driftscope
