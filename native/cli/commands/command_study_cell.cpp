// The hidden command study-cell: a cell of `study run --cluster` on a worker.
#include <CLI/CLI.hpp>

#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/cli/study_cell.hpp"
#include "native/os/files.hpp"

namespace driftscope::commands::study_cell {
namespace {

struct CellOptions {
  std::string request, model, samples, out;
  RunnerOptions runner;
};

Status run(const CellOptions& options) {
  DRIFTSCOPE_TRY(const Bytes bytes, read_file(options.request));
  auto request = read_study_cell(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  if (!request.ok()) return in_context(std::move(request).error(), options.request);
  DRIFTSCOPE_TRY(const std::string answer,
                 run_study_cell(*request, options.model, options.samples, options.runner));
  return write_file(options.out, answer);
}

}  // namespace

static Command declare(CLI::App& app) {
  auto options = std::make_shared<CellOptions>();
  app.add_option("REQUEST", options->request, "A file of JSON: what of which study")->required();
  app.add_option("--model", options->model, "The model")->required();
  app.add_option("--samples", options->samples, "Its samples, a .npy file")->required();
  app.add_option("--out", options->out, "Where the answer is written")->required();
  add_runner_options(app, options->runner);
  app.group("");  // internal, not listed in the help
  return [options] {
    const Status done = run(*options);
    if (done.ok()) return Exit::ok;
    print_error(done.error());
    return exit_of(done.error());
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 47, .name = "study-cell", .summary = "A cell of a study.", .declare = declare});
}

}  // namespace driftscope::commands::study_cell
