// driftscope-gui: the GUI in a window. Started by `driftscope gui`.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <atomic>
#include <cstdio>
#include <exception>
#include <optional>

#include "core/gui/imgui/font.hpp"
#include "core/gui/view_titles.hpp"
#include "native/cli/commands/gui_options.hpp"
#include "native/cli/commands/limit_options.hpp"
#include "native/cli/commands/parse_error.hpp"
#include "native/cli/console.hpp"
#include "native/gui/window/script.hpp"
#include "native/gui/window/window_host.hpp"
#include "native/os/process_start.hpp"
#include "native/os/signal_watcher.hpp"

namespace driftscope {
namespace {

Result<WindowOptions> window_options(const GuiOptions& options) {
  WindowOptions window;
  window.scale = options.scale;
  if (options.size.empty()) return window;
  char rest = '\0';
  if (std::sscanf(options.size.c_str(), "%5dx%5d%c", &window.width, &window.height, &rest) != 2 ||
      window.width < 320 || window.height < 240)
    return bad_input(
        fmt::format("--size {}: expected WIDTHxHEIGHT of at least 320x240, as in 1280x800", options.size));
  return window;
}

Status show(const GuiOptions& options) {
  DRIFTSCOPE_TRY(const WindowOptions wanted, window_options(options));
  DRIFTSCOPE_TRY(const auto window, Window::open(wanted));
  static std::atomic<bool> stopped{false};
  SignalWatcher::on_stop([] {
    stopped = true;
    Window::wake();
  });
  // The app's textures must be destroyed before the host and the context that created them.
  WindowHost host(options.runner, options.save, &Window::wake);
  gui::App app(host, gui::default_font(),
               {.dark = !options.light, .scale = window->scale(), .details = true});
  window->on_drop([&](std::vector<std::filesystem::path> paths) { host.open(std::move(paths)); });
  if (!options.runs.empty()) host.open({options.runs.begin(), options.runs.end()});
  if (!options.view.empty() && !app.open_view(options.view))
    return bad_input(
        fmt::format("--view {}: there is no such view; expected {}", options.view, gui::view_choices()));
  if (!options.layer.empty()) app.open_layer(options.layer);
  if (!options.script.empty()) return run_script(options.script, *window, app, host);
  while (!window->should_close() && !stopped) window->frame(app, true);
  return {};
}

int run_gui(int argc, char** argv) {
  CLI::App app{"The GUI of Driftscope: layers, drift, tensors, time, memory, the graph.", "driftscope gui"};
  GuiOptions options;
  add_gui_options(app, options);
  Limits limits;
  add_limits(app, limits);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return static_cast<int>(print_parse_error(app, error));
  }
  std::optional<TimeLimit> time;
  set_limits(limits, time);
  const Status shown = show(options);
  SignalWatcher::on_stop(nullptr);
  if (shown.ok()) return 0;
  print_error(shown.error());
  return static_cast<int>(exit_of(shown.error()));
}

}  // namespace
}  // namespace driftscope

int main(int argc, char** argv) {
  driftscope::guard_process(static_cast<int>(driftscope::Exit::bad_input));
  const driftscope::SignalWatcher signals;  // before any other thread
  try {
    return driftscope::run_gui(argc, argv);
  } catch (const std::exception& error) {
    driftscope::print_error(driftscope::internal_error(error.what()));
    return static_cast<int>(driftscope::Exit::fault);
  }
}
