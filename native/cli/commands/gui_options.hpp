// The options of `driftscope gui`. The command parses it and starts the program driftscope-gui,
// which parses it again: so driftscope itself needs no OpenGL. Clients: both.
#pragma once

#include <string>
#include <vector>

#include "native/host/target_runner.hpp"

namespace CLI {
class App;
}

namespace driftscope {

struct GuiOptions {
  std::vector<std::string> runs;  ///< traces, comparisons, models, samples
  std::string view;               ///< title of the first view
  std::string layer;              ///< to be selected
  bool light = false;
  double scale = 0.0;      ///< 0: the display's
  std::string size;        ///< "1280x800"
  std::string save = ".";  ///< folder
  std::string script;      ///< file of interactions, for tests and screenshots
  RunnerOptions runner;
};

void add_gui_options(CLI::App& app, GuiOptions& options);

/// The options again, as arguments.
[[nodiscard]] std::vector<std::string> gui_arguments(const GuiOptions& options);

}  // namespace driftscope
