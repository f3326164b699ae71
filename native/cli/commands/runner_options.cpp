#include "native/cli/commands/runner_options.hpp"

#include <CLI/CLI.hpp>

namespace driftscope {

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
