#include "core/engines/litert/litert.hpp"

#include "core/convert/tflite/to_tflite.hpp"

namespace driftscope::litert {

peer::PeerInfo describe(std::string name, std::string summary, const std::string& build) {
  const std::string title = "LiteRT.js";
  return {.engine = {.name = std::move(name),
                     .summary = std::move(summary),
                     .kind = EngineKind::peer,
                     .browser_files = {"litert/litert.mjs", "litert/wasm_utils.mjs",
                                       "litert/" + build + ".js", "litert/" + build + ".wasm"}},
          .title = title,
          .version = DRIFTSCOPE_LITERT_VERSION,
          .takes = peer::Takes::converted,
          .in_browsers = {.title = title,
                          .package = "@litertjs/core",
                          .lacking = {},
                          .hides_rewritten = "LiteRT.js does not show the model as its delegates rewrote it"},
          .convert = tflite::to_litert,
          .fixed_outputs = true};
}

ErrorModel wasm_model() {
  ErrorModel model;
  model.tanh.ulp = 7.0;
  model.sigmoid.ulp = 5.0;
  model.gelu_erf.absolute = 6e-7;
  return model;
}

EngineOption precision_option() {
  return {.name = "precision",
          .help = "what the accelerator may compute in",
          .values = {"fp32", "fp16"},
          .default_text = "fp32"};
}

}  // namespace driftscope::litert
