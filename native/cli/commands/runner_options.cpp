#include "native/cli/commands/runner_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/dataset/dataset_format.hpp"
#include "core/inputs/input_sizes.hpp"

namespace driftscope {

void add_size_options(CLI::App& app, std::vector<std::string>& inputs) {
  const auto sizes = [&](const char* option, std::string_view prefix, const char* text) {
    app.add_option_function<std::vector<std::string>>(
           option,
           [&inputs, prefix](const std::vector<std::string>& given) {
             for (const std::string& one : given) inputs.push_back(std::string(prefix) + one);
           },
           text)
        ->expected(1)
        ->take_all();
  };
  sizes("--input-shape", shape_prefix,
        "NAME=1x3x?x320, or the shape alone for a single input: its sizes where the model leaves them open; "
        "'?', and what is not given, is found: the first ordinary size that fits");
  sizes("--dim", dim_prefix, "time=16000: the size of a dimension that the model names, wherever it occurs");
}

CLI::Option* add_input_options(CLI::App& app, std::vector<std::string>& inputs) {
  const auto help = fmt::format(
      "NAME=SOURCE or SOURCE, once per model input: a .npy, .pb or .safetensors file, a picture (.png, "
      ".jpg), sound (.wav) or text (.txt) for a model with a preprocessing description, a folder of an ONNX "
      "test data "
      "set, {}, or seed:42 (the default: seeded random, with sizes that fit the model, masks of ones, states "
      "of zeros; beside others it makes the inputs that are missing)",
      sample_forms());
  CLI::Option* input = app.add_option("--input", inputs, help)->expected(1)->take_all();
  // Behind --input, which replaces what `inputs` holds: CLI11 goes through options in this order.
  add_size_options(app, inputs);
  return input;
}

static void add_web_driver_options(CLI::App& app, WebDriverOptions& options) {
  constexpr int largest_port = 65535;
  app.add_option_function<std::string>(
      "--webdriver", [&options](const std::string& url) { options.url = url; },
      "Address of a WebDriver (a driver, Selenium Grid, Appium, a cloud) that starts the browsers of targets "
      "webdriver:NAME/strict, as http://127.0.0.1:4444; with a key rather in $DRIFTSCOPE_WEBDRIVER, as "
      "https://USER:KEY@hub.example.org/wd/hub");
  app.add_option_function<std::string>(
      "--capabilities", [&options](const std::string& file) { options.capabilities = file; },
      "What NAME of webdriver:NAME is: a JSON object of names, each with W3C capabilities, as {\"pixel8\": "
      "{\"browserName\": \"chrome\", \"platformName\": \"android\"}} (default: $DRIFTSCOPE_CAPABILITIES; "
      "without one NAME is chrome, firefox, safari, edge or MiniBrowser)");
  app.add_option_function<std::string>(
      "--webdriver-page", [&options](const std::string& url) { options.page = url; },
      "How those browsers reach the page of this machine through a proxy or tunnel of yours, as "
      "https://pc.example.org (default: http://127.0.0.1, where they or their tunnel's end run here)");
  app.add_option_function<int>(
         "--webdriver-port", [&options](int port) { options.port = port; },
         "Port of this machine that the tunnel leads to (default: any free one; with --webdriver-page 8459)")
      ->check(CLI::Range(1, largest_port));
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
  add_web_driver_options(app, options.web_driver);
}

}  // namespace driftscope
