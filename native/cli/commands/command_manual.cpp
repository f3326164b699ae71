// driftscope manual [COMMAND] [--write DIR]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "native/cli/commands/commands.hpp"
#include "native/cli/manual.hpp"
#include "native/os/files.hpp"
#include "native/os/folders.hpp"

namespace driftscope {
namespace {

struct ManualOptions {
  std::string command;
  std::string folder;
};

Result<std::string> page_of(const CLI::App& app, const std::string& command) {
  if (command.empty()) return manual_page(app, "driftscope");
  for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; }))
    if (one->get_name() == command) return manual_page(*one, "driftscope-" + command);
  return bad_input("there is no command '" + command + "'; 'driftscope --help' lists them");
}

Status write_pages(const CLI::App& app, const std::filesystem::path& folder) {
  DRIFTSCOPE_CHECK(make_folders(folder));
  DRIFTSCOPE_CHECK(write_file(folder / "driftscope.1", manual_page(app, "driftscope")));
  for (const CLI::App* one : app.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); })) {
    const std::string name = "driftscope-" + one->get_name();
    DRIFTSCOPE_CHECK(write_file(folder / (name + ".1"), manual_page(*one, name)));
  }
  return {};
}

Status run_manual(const ManualOptions& options) {
  CLI::App app;
  declare_commands(app);
  if (!options.folder.empty()) return write_pages(app, options.folder);
  DRIFTSCOPE_TRY(const std::string page, page_of(app, options.command));
  print_out("{}", page);
  return {};
}

}  // namespace

namespace commands::manual {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<ManualOptions>();
  app.add_option("COMMAND", options->command, "The command to describe; without one, the whole program");
  app.add_option("--write", options->folder, "Write the pages of all commands into this folder instead")
      ->option_text("DIR");
  app.footer("  driftscope manual compare | man -l -");
  return [options] {
    const Status status = run_manual(*options);
    if (status.ok()) return Exit::ok;
    print_error(status.error());
    return exit_of(status.error());
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 110, .name = "manual", .summary = "Print a manual page, for man.", .declare = declare});
}

}  // namespace commands::manual

}  // namespace driftscope
