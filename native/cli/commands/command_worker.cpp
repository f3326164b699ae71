// The hidden command worker: a target in a process of its own.
#include <CLI/CLI.hpp>

#include "native/cli/commands/commands.hpp"
#include "native/host/worker_process.hpp"

namespace driftscope::commands::worker {

static Command declare(CLI::App& app) {
  auto line = std::make_shared<int>(-1);
  app.add_option("--line", *line, "An open socket")->required()->check(CLI::Range(3, 1 << 20));
  app.group("");  // internal, not listed in the help
  return [line] {
    serve_service(*line);
    return Exit::ok;
  };
}

void add_to(CommandTable& table) {
  table.add(
      {.order = 51, .name = "worker", .summary = "A process in which a target runs.", .declare = declare});
}

}  // namespace driftscope::commands::worker
