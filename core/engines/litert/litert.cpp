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

// LiteRT.js guarantees nothing. Measured on LiteRT.js 2.5.3 (relaxed SIMD, under Node on AVX-512) with every
// 4,093rd float and 10⁶ in [−20, 20]; the largest errors: tanh 5.8 ULP, sigmoid 3.2 ULP, exp 2.5 ULP up to
// |x| = 1, 5.2 up to 5, 17 up to 20, 63 up to 88, log 2.7 ULP and near 1 1.7e-7 absolute, sin and cos 3.2e-7
// absolute up to |x| = 10⁴ (1.2e-6 up to 10⁵, wrong by far beyond 10⁶), Gelu 1.1e-6 absolute. Results that no
// row explains are faults: exp is infinite from 88.40 on, log ends at 88.376.
ErrorModel wasm_model() {
  ErrorModel model;
  model.tanh.ulp = 7.0;
  model.sigmoid.ulp = 5.0;
  model.exp.ulp = 3.0;
  model.exp.ulp_per_x = 1.1;
  model.log.absolute = 2e-7;
  model.sin.absolute = 4e-7;
  model.tan.absolute = 4e-7;
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
