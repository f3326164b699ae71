#include "native/cli/commands/runner_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/dataset/dataset_format.hpp"

namespace driftscope {

std::string input_help() {
  return fmt::format(
      "NAME=SOURCE or SOURCE, once per model input: a .npy, .pb or .safetensors file, a picture (.png, "
      ".jpg) or text (.txt) for a model with a preprocessing description, a folder of an ONNX test data "
      "set, {}, or seed:42 (the default: seeded random)",
      sample_forms());
}

void add_runner_options(CLI::App& app, RunnerOptions& options) {
  app.add_option_function<int>(
         "--timeout", [&options](int seconds) { options.timeout = std::chrono::seconds(seconds); },
         "Seconds without a sign of life after which a browser is given up (default: 60)")
      ->check(CLI::Range(1, 86400));
  app.add_option_function<int>(
         "--stall-timeout",
         [&options](int seconds) { options.stall_timeout = std::chrono::seconds(seconds); },
         "Seconds without progress after which a browser is given up whose page lives (default: 5 times "
         "--timeout)")
      ->check(CLI::Range(1, 86400));
  app.add_option_function<std::string>(
      "--site", [&options](const std::string& folder) { options.site = folder; },
      "Folder of the page (default: found beside the program, or $DRIFTSCOPE_SITE)");
}

}  // namespace driftscope
