// driftscope gui [RUN…]: starts driftscope-gui, which is beside this program.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/gui_options.hpp"
#include "native/cli/commands/limit_options.hpp"
#include "native/cli/gui_program.hpp"

namespace driftscope {
namespace {

Error start_gui(const GuiOptions& options, const std::vector<std::string>& limits) {
  const auto program = gui_program();
  if (!program.ok()) return program.error();
  std::vector<std::string> arguments = limits;
  for (std::string& argument : gui_arguments(options)) arguments.push_back(std::move(argument));
  std::string name = program->string();
  std::vector<char*> pointers = {name.data()};
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  // The child would inherit the signals that main has blocked for its watcher.
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  execv(name.c_str(), pointers.data());
  return io_error(fmt::format("cannot start {}: {}", name, std::strerror(errno)));
}

}  // namespace

namespace commands::gui {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<GuiOptions>();
  add_gui_options(app, *options);
  // The window sets them again: a limit of tensors does not outlive this program.
  return [options, &app] {
    const Error error = start_gui(*options, limit_arguments(*app.get_parent()));
    print_error(error);
    return exit_of(error);
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 80,
             .name = "gui",
             .summary = "Show runs and comparisons in a window; start new ones there.",
             .declare = declare});
}

}  // namespace commands::gui

}  // namespace driftscope
