// driftscope serve [--port N] [--open]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "native/cli/commands/commands.hpp"
#include "native/http/serve.hpp"
#include "native/platform/site.hpp"

namespace driftscope {
namespace {

Result<Exit> run_serve(ServeOptions options) {
  DRIFTSCOPE_TRY(options.site, find_site(options.site));
  options.say = [](const std::string& line) {
    print_out("{}\n", line);
    std::fflush(stdout);
  };
  DRIFTSCOPE_CHECK(serve(options));
  return Exit::ok;
}

}  // namespace

namespace commands::serve {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<ServeOptions>();
  options->traces = "traces";
  app.add_option("--port", options->port, "Port on 127.0.0.1 (default: any free one)")
      ->check(CLI::Range(0, 65535));
  app.add_flag("--open", options->open, "Open the page in the desktop's browser");
  app.add_option("--traces", options->traces, "Folder for the traces that the page sends")
      ->capture_default_str();
  app.add_option("--site", options->site,
                 "Folder of the page (default: found beside the program, or $DRIFTSCOPE_SITE)");
  app.footer(
      "The page is reachable from this machine only, under an address that nobody can guess. Ctrl-C\n"
      "stops the server.");
  return [options] {
    const auto exit = run_serve(*options);
    if (exit.ok()) return *exit;
    print_error(exit.error());
    return exit_of(exit.error());
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 70,
             .name = "serve",
             .summary = "Serve the page on this machine, to be opened in any browser here.",
             .declare = declare});
}

}  // namespace commands::serve

}  // namespace driftscope
