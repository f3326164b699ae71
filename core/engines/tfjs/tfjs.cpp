#include "core/engines/tfjs/tfjs.hpp"

#include "core/convert/tfjs/convert.hpp"

namespace driftscope::tfjs {

peer::PeerInfo describe(const std::string& backend, std::string summary,
                        const std::vector<std::string>& more) {
  const std::string title = "TensorFlow.js";
  std::vector<std::string> files = {"tfjs/tf-core.min.js", "tfjs/tf-converter.min.js",
                                    "tfjs/tf-backend-" + backend + ".min.js"};
  for (const std::string& file : more) files.push_back("tfjs/" + file);
  return {.engine = {.name = "tfjs-" + backend,
                     .summary = std::move(summary),
                     .order = 50,
                     .kind = EngineKind::peer,
                     .browser_files = std::move(files)},
          .title = title,
          .version = DRIFTSCOPE_TFJS_VERSION,
          .takes = peer::Takes::converted,
          .in_browsers = {.title = title,
                          .package = "@tensorflow/tfjs-core",
                          .lacking = {},
                          .hides_rewritten = "TensorFlow.js runs the graph as it is given"},
          .releases = {.in_browsers = {{"@tensorflow/tfjs-core", "dist/tf-core.min.js", ""},
                                       {"@tensorflow/tfjs-converter", "dist/tf-converter.min.js", ""},
                                       {"@tensorflow/tfjs-backend-" + backend, "dist/", ""}}},
          .convert = convert::tfjs::convert};
}

EngineOption cpu_forward_option() {
  return {.name = "cpu_forward",
          .help = "whether results of a few elements are computed on the CPU",
          .values = {"on", "off"},
          .default_text = "on"};
}

}  // namespace driftscope::tfjs
