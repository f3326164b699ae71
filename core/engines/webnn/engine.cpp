// WebNN: the neural network API of browsers. web/peers/webnn builds an MLGraph from our graph; what computes it is
// the browser's choice, on Linux LiteRT with XNNPACK.
#include "core/engines/peer/peer_engine.hpp"

namespace driftscope {
namespace {

ErrorModel measured_model() {
  ErrorModel model;
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
                              .default_text = "default"}},
                 .browser_feature = "webnn"},
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
