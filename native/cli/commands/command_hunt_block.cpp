// The hidden command hunt-block: judges some cases of `hunt --cluster` on a worker.
#include <CLI/CLI.hpp>

#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/cli/result_store.hpp"
#include "native/host/hunt_jobs.hpp"
#include "native/host/targets.hpp"
#include "native/os/files.hpp"

namespace driftscope::commands::hunt_block {
namespace {

struct BlockOptions {
  std::uint64_t seed = 1;
  std::vector<std::string> operators;
  std::string target, name, out;
  std::int64_t first = 0, count = 1;
  RunnerOptions runner;
};

Status run(const BlockOptions& options) {
  DRIFTSCOPE_TRY(const Target target, read_target(options.target));
  DRIFTSCOPE_CHECK(check_names({options.name}, {target}, options.runner));
  const auto cases = made_graphs(options.seed, options.operators);
  DRIFTSCOPE_TRY(const std::string text,
                 run_hunt_block(*cases, target, options.first, options.count, options.runner));
  return write_file(options.out, text);
}

}  // namespace

static Command declare(CLI::App& app) {
  auto options = std::make_shared<BlockOptions>();
  constexpr std::int64_t most_cases = 100'000;
  app.add_option("--seed", options->seed, "As of hunt")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 53));
  app.add_option("--operators", options->operators, "As of hunt")->delimiter(',');
  app.add_option("--target", options->target, "host/engine[:option=value,…]")->required();
  app.add_option("--name", options->name, "What the target must be, with its version; empty: anything");
  app.add_option("--first", options->first, "The number of the first case")->check(CLI::Range(0, 1 << 30));
  app.add_option("--count", options->count, "How many")->check(CLI::Range(std::int64_t{1}, most_cases));
  app.add_option("--out", options->out, "Where what was judged is written")->required();
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
  table.add({.order = 37, .name = "hunt-block", .summary = "Cases of a hunt.", .declare = declare});
}

}  // namespace driftscope::commands::hunt_block
