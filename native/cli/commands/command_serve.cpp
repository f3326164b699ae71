// driftscope serve [--port N] [--open] [--results DIR] [--hub [--public URL | --listen ADDRESS[:PORT]]
//                  [--timeout SECONDS]]
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/deploy/url.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/link_text.hpp"
#include "native/host/page_runs.hpp"
#include "native/http/serve.hpp"
#include "native/platform/site.hpp"

namespace driftscope {
namespace {

/// As Origin headers have it.
Result<std::string> public_origin(const std::string& text) {
  if (text.empty()) return text;
  auto url = parse_url(text);
  if (!url.ok()) return in_context(std::move(url).error(), "--public");
  if (!url->secure())
    return bad_input("--public: browsers give WebGPU, threads and storage to https alone, got " + text);
  if (url->path != "/" && !url->path.empty())
    return bad_input("--public: expected an address without a path, as " + url->origin() + ", got " + text);
  return url->origin();
}

Status check_listen(const ServeOptions& options) {
  if (options.listen.empty()) return {};
  if (!options.hub)
    return bad_input(
        "--listen: only a hub answers other machines, and its devices alone: add --hub. The page of serve "
        "itself stays on 127.0.0.1");
  if (!options.public_origin.empty())
    return bad_input("--listen and --public: devices come either by this address or by a proxy of yours");
  return {};
}

struct ServeCommand {
  ServeOptions serve;
  RunnerOptions runner;  ///< of the page's runs on devices
};

Result<Exit> run_serve(const ServeCommand& command) {
  ServeOptions options = command.serve;
  constexpr int hub_port = 8457;
  DRIFTSCOPE_CHECK(check_listen(options));
  DRIFTSCOPE_TRY(options.site, find_site(options.site));
  DRIFTSCOPE_TRY(options.public_origin, public_origin(options.public_origin));
  if (options.hub && options.port < 0) options.port = hub_port;
  options.port = std::max(options.port, 0);
  RunnerOptions runner = command.runner;
  runner.site = options.site;
  options.begin_elsewhere = page_runs(runner);
  options.say = [](const std::string& line) {
    print_out("{}\n", line);
    std::fflush(stdout);
  };
  options.show_link = [](const std::string& url, std::chrono::seconds life) { show_link(url, life); };
  DRIFTSCOPE_CHECK(serve(options));
  return Exit::ok;
}

}  // namespace

namespace commands::serve {

static Command declare(CLI::App& app) {
  auto command = std::make_shared<ServeCommand>();
  ServeOptions* const options = &command->serve;
  options->traces = "traces";
  options->port = -1;
  app.add_option("--port", options->port, "Port on 127.0.0.1 (default: any free one)")
      ->check(CLI::Range(0, 65535));
  app.add_flag("--open", options->open, "Open the page in the desktop's browser");
  const auto hub = app.add_flag("--hub", options->hub,
                                "Let browsers elsewhere join by a link, as targets of other commands: "
                                "remote:NAME/strict (the port is then "
                                "8457 if none is given, so that devices find it again)");
  app.add_option("--public", options->public_origin,
                 "How they reach this machine through a proxy of yours, as https://hub.example.org")
      ->needs(hub);
  app.add_option(
      "--listen", options->listen,
      "With --hub: devices in the same network reach it at this address of this machine, or at all "
      "of them (all), over TLS with a certificate made here (ADDRESS[:PORT], port 8458 if none is "
      "given)");
  app.add_option_function<int>(
         "--timeout",
         [runner = &command->runner](int seconds) { runner->timeout = std::chrono::seconds(seconds); },
         "With --hub: seconds without a sign of life after which the page gives up a device (default: 60)")
      ->check(CLI::Range(1, 86400))
      ->needs(hub);
  app.add_option("--traces", options->traces, "Folder for the traces that the page sends")
      ->capture_default_str();
  app.add_option("--results", options->results,
                 "Folder of comparisons ('compare --json') to be shown over releases below wall/, read again "
                 "when files change (docs/wall.md)");
  app.add_option("--site", options->site,
                 "Folder of the page (default: found beside the program, or $DRIFTSCOPE_SITE)");
  app.footer(
      "The page is reachable from this machine only, under an address that nobody can guess. Ctrl-C\n"
      "stops the server. With --hub the page lists the devices that have joined, and compares on them\n"
      "too. A phone reaches a hub in the same network (--listen), by cable ('adb reverse\n"
      "tcp:8457 tcp:8457') or through a proxy with TLS (--public), and nothing else of the server; each\n"
      "link is good for one browser, which then has a key of its own (docs/hub.md):\n"
      "  driftscope serve --hub --listen all\n"
      "  driftscope devices\n"
      "  driftscope compare model.onnx --right remote:pixel8/webgpu,remote:pixel8/fast");
  return [command] {
    const auto exit = run_serve(*command);
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
