#include "native/cli/commands/gui_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/gui/view_titles.hpp"
#include "native/cli/commands/runner_options.hpp"

namespace driftscope {

void add_gui_options(CLI::App& app, GuiOptions& options) {
  app.add_option(
      "RUN", options.runs,
      "Kept comparisons (.drift), traces (.safetensors), stored comparisons (.json), models "
      "(.onnx), samples, the JSON of 'generate', training curves as 'curves' reads them, or folders of "
      "'study run', 'attack -o', 'generate --keep' and 'python -m driftscope.training' to open");
  app.add_option("--view", options.view, "Start with this view: " + gui::view_choices());
  app.add_option("--layer", options.layer, "Select this layer");
  app.add_flag("--light", options.light, "Light colours");
  app.add_option("--scale", options.scale, "Scale of the whole interface (default: the display's)")
      ->check(CLI::Range(0.5, 4.0));
  app.add_option("--size", options.size, "Size of the window, as in 1280x800");
  app.add_option("--save", options.save, "Folder for what is saved")->capture_default_str();
  app.add_option("--script", options.script,
                 "Replay the interactions in this file, then exit (for tests and screenshots)")
      ->check(CLI::ExistingFile);
  add_runner_options(app, options.runner);
  app.footer(
      "Without RUN it offers the shipped models and, on one click, the comparison of the demo. Files can be\n"
      "dropped on the window at any time; traces of one model are grouped, and judged if the model is\n"
      "open, too. Ctrl+K lists every command, ? every key.");
}

std::vector<std::string> gui_arguments(const GuiOptions& options) {
  std::vector<std::string> arguments;
  const auto add = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    arguments.emplace_back(name);
    arguments.push_back(value);
  };
  add("--view", options.view);
  add("--layer", options.layer);
  if (options.light) arguments.emplace_back("--light");
  if (options.scale > 0.0) add("--scale", fmt::format("{}", options.scale));
  add("--size", options.size);
  add("--save", options.save);
  add("--script", options.script);
  add("--timeout", std::to_string(options.runner.timeout.count()));
  if (options.runner.stall_timeout)
    add("--stall-timeout", std::to_string(options.runner.stall_timeout->count()));
  add("--site", options.runner.site.string());
  add("--webdriver", options.runner.web_driver.url);
  add("--capabilities", options.runner.web_driver.capabilities.string());
  add("--webdriver-page", options.runner.web_driver.page);
  if (options.runner.web_driver.port != 0)
    add("--webdriver-port", std::to_string(options.runner.web_driver.port));
  if (!options.runs.empty()) arguments.emplace_back("--");
  arguments.insert(arguments.end(), options.runs.begin(), options.runs.end());
  return arguments;
}

}  // namespace driftscope
