// LiteRT.js on WebNN, the browser's own neural network API.
#include "core/convert/tflite/to_tflite.hpp"
#include "core/engines/litert/litert.hpp"
#include "core/engines/peer/peer_engine.hpp"

namespace driftscope {
namespace {

peer::PeerInfo described() {
  peer::PeerInfo info = litert::describe(
      "litert-webnn", "LiteRT.js on WebNN, on your model as a .tflite file", "litert_wasm_jspi_internal");
  info.engine.order = 62;
  info.engine.on_pc = false;
  info.engine.error_model = litert::wasm_model();  // on Linux WebNN computes with XNNPACK as well
  info.engine.options = {{.name = "device",
                          .help = "what WebNN is asked to compute on; the browser may choose otherwise",
                          .values = {"cpu", "gpu", "npu"},
                          .default_text = "cpu"},
                         {.name = "power",
                          .help = "the power preference it is given",
                          .values = {"default", "high-performance", "low-power"},
                          .default_text = "default"},
                         litert::precision_option()};
  info.engine.browser_feature = "webnn";
  info.engine.browser_api = "WebNN";
  info.convert = tflite::to_accelerator;
  return info;
}

}  // namespace

std::unique_ptr<Engine> make_litert_webnn_engine() {
  static const peer::PeerInfo info = described();
  return std::make_unique<peer::PeerEngine>(info);
}

}  // namespace driftscope
