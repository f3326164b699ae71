// The hidden command study-worker: a measurement of `study run` in a process of its own.
#include <CLI/CLI.hpp>

#include "native/cli/commands/commands.hpp"
#include "native/cli/study_work.hpp"

namespace driftscope::commands::study_worker {

static Command declare(CLI::App& app) {
  auto request = std::make_shared<std::string>();
  app.add_option("REQUEST", *request, "A file of JSON: model, target, inputs")->required();
  app.group("");  // internal, not listed in the help
  return [request] {
    print_out("{}\n", measure_for_study(*request));
    return Exit::ok;
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 46, .name = "study-worker", .summary = "A process of a study.", .declare = declare});
}

}  // namespace driftscope::commands::study_worker
