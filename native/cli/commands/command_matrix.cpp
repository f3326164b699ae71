// driftscope matrix FILE.yml [--out DIR] [--jobs N | --cluster ADDRESS] [--store S] [--budget 1h] [--list]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/matrix/matrix_results.hpp"
#include "native/cli/commands/batch_options.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/cli/matrix_run.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

struct MatrixOptions {
  std::string file;
  std::string json;
  bool list = false;
  bool quiet = false;
  BatchOptions batch;
  RunnerOptions runner;
};

void list_cells(const MatrixFiles& files, const CampaignStore* store) {
  for (const MatrixPlace& cell : files.cells)
    print_out("{} on {}, {}{}\n", files.matrix.models[cell.model].name, name_of(files.matrix.data[cell.data]),
              files.targets[cell.target],
              store != nullptr && store->results().contains(stored_cell(files, cell)) ? "  done" : "");
  print_out("{} cells, compared with {}\n", files.cells.size(), files.left);
}

/// Where a driver's address has a key, other users must not see it: it is not among arguments.
std::map<std::string, std::string> environment_of(const WebDriverOptions& options) {
  std::map<std::string, std::string> environment;
  if (!options.url.empty()) environment["DRIFTSCOPE_WEBDRIVER"] = options.url;
  if (!options.capabilities.empty())
    environment["DRIFTSCOPE_CAPABILITIES"] = fs::absolute(options.capabilities).string();
  return environment;
}

/// What every cell on this machine is given.
std::vector<std::string> runner_arguments(const RunnerOptions& runner) {
  std::vector<std::string> arguments;
  const auto add = [&](const char* option, const std::string& value) {
    arguments.insert(arguments.end(), {option, value});
  };
  if (!runner.site.empty()) add("--site", fs::absolute(runner.site).string());
  if (runner.stall_timeout) add("--stall-timeout", std::to_string(runner.stall_timeout->count()));
  if (!runner.web_driver.page.empty()) add("--webdriver-page", runner.web_driver.page);
  if (runner.web_driver.port != 0) add("--webdriver-port", std::to_string(runner.web_driver.port));
  return arguments;
}

MatrixRunOptions run_options(const MatrixOptions& options, const MatrixFiles& files, ProgressLine& line) {
  MatrixRunOptions how;
  how.results = options.batch.results();
  const bool here = options.batch.cluster.empty();
  if (here) how.before = runner_arguments(options.runner);
  if (here && options.batch.jobs > 1 && !files.matrix.run->times) how.times_here = false;
  // A device has one tab; a page at a fixed port is served by one command at a time.
  const bool one_page = !options.runner.web_driver.page.empty() || options.runner.web_driver.port != 0;
  how.alone = [one_page](const std::string& host) {
    return host.starts_with("remote:") || (one_page && host.starts_with("webdriver:"));
  };
  how.found = [&line](const documents::MatrixCell& cell) {
    line.clear();
    print_text(stderr, fmt::format("{} on {}, {}: {}{}\n", cell.model, cell.data, cell.target, cell.state,
                                   cell.error.empty() ? "" : ": " + cell.error));
  };
  return how;
}

Exit exit_of_results(const documents::MatrixResults& results) {
  if (std::ranges::any_of(results.cells, &documents::MatrixCell::checked)) return Exit::fault;
  return std::ranges::all_of(results.cells, cell_ran) ? Exit::ok : Exit::missing;
}

Status show_results(const MatrixOptions& options, const documents::MatrixResults& results, BatchEnd end) {
  if (options.json != "-") print_out("{}", matrix_text(results));
  if (!options.json.empty()) {
    nlohmann::ordered_json document = {{"format", "driftscope-matrix-results-1"}};
    document.update(encode(results));
    DRIFTSCOPE_CHECK(write_json(options.json, document.dump(1) + "\n"));
  }
  print_text(options.json == "-" ? stderr : stdout,
             batch_end_text(options.batch, end) +
                 fmt::format("pages: driftscope wall {} -o FOLDER\n", options.batch.results().string()));
  return {};
}

Result<Exit> run_matrix_command(MatrixOptions& options) {
  ProgressLine line(options.quiet);
  DRIFTSCOPE_TRY(const MatrixFiles files,
                 open_matrix(options.file, options.runner,
                             [&](const std::string& step, std::int64_t done, std::int64_t total) {
                               line.update(step, done, total);
                             }));
  line.clear();
  if (options.batch.out.empty()) options.batch.out = fs::path(options.file).stem().string();
  std::error_code ignored;
  if (options.list && options.batch.store.empty() && !fs::exists(options.batch.out, ignored))
    return list_cells(files, nullptr), Exit::ok;
  DRIFTSCOPE_TRY(const auto store, open_batch_store(options.batch, "matrix", options.runner.site));
  if (options.list) return list_cells(files, store.get()), Exit::ok;
  const MatrixRunOptions how = run_options(options, files, line);
  DRIFTSCOPE_TRY(const BatchEnd end, run_batch(matrix_campaign(files, how), *store, options.batch, line,
                                               environment_of(options.runner.web_driver)));
  DRIFTSCOPE_TRY(const documents::MatrixResults results, results_of(files, *store));
  DRIFTSCOPE_CHECK(show_results(options, results, end));
  return end == BatchEnd::interrupted ? Exit::interrupted : exit_of_results(results);
}

}  // namespace

namespace commands::matrix {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<MatrixOptions>();
  app.add_option("FILE", options->file, "The matrix, YAML or JSON (docs/matrix.md)")->required();
  app.add_option("-o,--out", options->batch.out,
                 "The folder of its results, begun or gone on with (default: FILE without its ending, here)");
  app.add_flag("--list", options->list, "List the cells, and which have a result; nothing runs");
  app.add_option("--json", options->json, "Write the results as JSON ('-': standard output)");
  app.add_flag("--quiet", options->quiet, "No progress line");
  add_batch_options(app, options->batch, "Cells");
  add_runner_options(app, options->runner);
  app.footer(
      "Compares many models on much data on many targets: each cell is a 'compare' of its own, whose result "
      "is\n"
      "kept at once. It may be ended at any moment; the same command goes on, and cells that have a result "
      "do\n"
      "not run again until their model, data, options or what they run on changes. With several --jobs\n"
      "targets on this machine are not timed, unless the file says how long.\n\n"
      "  format: driftscope-matrix-1\n"
      "  models: [models/*.onnx]\n"
      "  data: [seed:42, {dataset: \"images:pictures\", models: [resnet*]}]\n"
      "  hosts: [chrome, firefox, \"webdriver:pixel8\"]\n"
      "  engines: [ort, ort-webgpu]\n"
      "  exclude: [{targets: [firefox/ort-webgpu]}]\n\n"
      "  driftscope matrix nightly.yml --list\n"
      "  driftscope matrix nightly.yml --out nightly --jobs 4\n"
      "  driftscope matrix nightly.yml --cluster tcp://10.0.0.5:8786\n"
      "  driftscope wall nightly/results -o public\n\n"
      "Exit code 1: a condition of the file's fail_on holds in a cell (fault); 3: a cell did not run.");
  return [options] {
    const auto exit = run_matrix_command(*options);
    if (exit.ok()) return *exit;
    print_error(exit.error());
    return exit_of(exit.error());
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 32,
             .name = "matrix",
             .summary = "Compare many models on much data on many targets, here or on a cluster.",
             .declare = declare});
}

}  // namespace commands::matrix

}  // namespace driftscope
