// WebNN: the neural network API of browsers. web/peers/webnn builds an MLGraph from our graph; what computes
// it is the browser's choice, on Linux LiteRT with XNNPACK.
#include "core/engines/peer/peer_engine.hpp"

namespace driftscope {
namespace {

// WebNN guarantees nothing. Measured with the operators of Chromium 153 on Linux (LiteRT, on AVX-512), on
// every 4,093rd float and 2·10⁶ in [−20, 20] and [−100, 100]; the largest errors: exp 2 + 1.07·|x| ULP, log
// 3.8e-7 absolute, tanh 4.4 ULP, sigmoid 3.4 ULP, erf 6.4e-7 absolute, 1 + erf(x/√2) inside of Gelu 3.4e-7,
// sin and cos 2.9e-7 absolute up to |x| = 10⁴ (4.3e-7 up to 10⁵, wrong by far beyond), √ 2.45 ULP; + − × ÷
// and pow are rounded to nearest, subnormal numbers flushed. Results that no row explains are faults: exp is
// infinite from 88.377 on, log ends at 88.376, √∞ is NaN, and exp, log and softplus of NaN are numbers.
ErrorModel measured_model() {
  ErrorModel model;
  model.absolute = 0x1p-126;
  model.flushes_subnormals = true;
  model.sqrt_ulp = 2.5;
  model.exp.ulp = 3.0;
  model.exp.ulp_per_x = 1.1;
  model.log.absolute = 4e-7;
  model.tanh.ulp = 5.0;
  model.erf.absolute = 7e-7;
  model.gelu_erf.absolute = 4e-7;
  model.sin.absolute = 4e-7;
  model.tan.absolute = 4e-7;
  return model;
}

const peer::PeerInfo& webnn_info() {
  static const peer::PeerInfo info = {
      .engine = {.name = "webnn",
                 .summary = "WebNN, the browser's own neural network API",
                 .order = 46,
                 .kind = EngineKind::peer,
                 .on_pc = false,
                 .error_model = measured_model(),
                 .options = {{.name = "device",
                              .help = "what it is asked to compute on; the browser may choose otherwise",
                              .values = {"cpu", "gpu", "npu"},
                              .default_text = "cpu"},
                             {.name = "power",
                              .help = "the power preference it is given",
                              .values = {"default", "high-performance", "low-power"},
                              .default_text = "default"},
                             {.name = "calls",
                              .help = "whether the trace keeps the calls that built the graph, as JavaScript",
                              .values = {"off", "on"},
                              .default_text = "off"}},
                 .browser_feature = "webnn",
                 .browser_api = "WebNN"},
      .title = "WebNN",
      .version = "of the browser",
      .takes = peer::Takes::graph,
      .in_browsers = {.title = "WebNN",
                      .package = "WebNN",
                      .lacking = {DType::float64, DType::bfloat16, DType::int16, DType::uint16, DType::string,
                                  DType::uint4},
                      .hides_rewritten = "WebNN shows no graph but the one that it was given"}};
  return info;
}

}  // namespace

std::unique_ptr<Engine> make_webnn_engine() { return std::make_unique<peer::PeerEngine>(webnn_info()); }

}  // namespace driftscope
