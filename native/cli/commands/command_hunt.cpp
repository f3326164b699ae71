// driftscope hunt [MODEL] --targets T,… --out DIR [--budget 10m] [--seed S]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/hunt/judged.hpp"
#include "core/hunt/operator.hpp"
#include "native/campaign/store_kinds.hpp"
#include "native/cli/commands/batch_options.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/duration_option.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/cli/job_parts.hpp"
#include "native/cli/result_store.hpp"
#include "native/host/hunt_run.hpp"
#include "native/host/inputs.hpp"
#include "native/host/targets.hpp"
#include "native/os/files.hpp"
#include "native/os/signal_watcher.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

struct HuntOptions {
  std::string model;
  std::vector<std::string> inputs;
  std::vector<std::string> targets = {"pc/ort"};
  std::string out;
  std::string budget = "10m";
  std::int64_t cases = 0;
  std::uint64_t seed = 1;
  std::vector<std::string> operators;
  std::int64_t reduce_seconds = 60;
  std::optional<std::int64_t> only;
  std::string cluster;  ///< a Dask scheduler's address; empty: cases are judged here
  bool quiet = false;
  RunnerOptions runner;
};

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const hunt::HuntOperator& one : hunt::operator_table().all()) names.emplace_back(one.name);
  return names;
}

struct OpenedHunt {
  std::unique_ptr<HuntCases> cases;
  nlohmann::json fields;  ///< what the cases depend on
};

Result<OpenedHunt> open_cases(const HuntOptions& options, documents::Hunt& hunt) {
  OpenedHunt opened;
  opened.fields = {{"seed", options.seed}, {"operators", options.operators}};
  if (options.model.empty()) {
    opened.cases = made_graphs(options.seed, options.operators);
    return opened;
  }
  if (!options.operators.empty()) return bad_input("--operators: with a MODEL its own operators are hunted");
  DRIFTSCOPE_TRY(ModelFile model, load_model_file(options.model));
  DRIFTSCOPE_TRY(const GivenInputs inputs, read_inputs(options.inputs, model));
  hunt.model = model.name;
  hunt.model_sha256 = model.sha256;
  opened.fields["model"] = hashes_of(model);
  opened.fields["inputs"] = hashes_of(inputs.tensors);
  DRIFTSCOPE_TRY(opened.cases, searched_inputs(std::make_shared<ModelFile>(std::move(model)), inputs.tensors,
                                               options.seed));
  return opened;
}

/// Made from the seed there as well: no file travels.
ProgramJob block_job(const HuntOptions& options, const HuntPlan& plan, std::size_t target, std::int64_t first,
                     std::int64_t count) {
  ProgramJob job;
  job.limit = std::chrono::hours(1);
  job.arguments = {"hunt-block"};
  const auto add = [&](const char* option, const std::string& value) {
    job.arguments.insert(job.arguments.end(), {option, value});
  };
  add("--seed", std::to_string(options.seed));
  if (!options.operators.empty()) add("--operators", fmt::format("{}", fmt::join(options.operators, ",")));
  add("--target", plan.targets[target].text());
  if (const auto names = names_elsewhere(plan.targets, plan.names); !names[target].empty())
    add("--name", names[target]);
  add("--first", std::to_string(first));
  add("--count", std::to_string(count));
  add("--timeout", std::to_string(options.runner.timeout.count()));
  if (options.runner.stall_timeout)
    add("--stall-timeout", std::to_string(options.runner.stall_timeout->count()));
  job.key = text_sha256(fmt::format("{}", fmt::join(job.arguments, "\n")));
  add("--out", std::string("@{") + job_result_name + "}");
  return job;
}

Result<Exit> run_hunt_command(const HuntOptions& options) {
  HuntPlan plan;
  DRIFTSCOPE_TRY(plan.targets, read_targets(options.targets));
  for (const Target& target : plan.targets)
    if (target.host == "file") return bad_input("hunt runs models: give targets, not traces");
  plan.names = names_in_store(plan.targets, options.runner);
  DRIFTSCOPE_TRY(plan.seconds, seconds_of("--budget", options.budget));
  if (options.cases > 0) plan.cases = options.cases;
  plan.folder = options.out;
  plan.reduce_seconds = options.reduce_seconds;
  plan.runner = options.runner;
  if (!options.cluster.empty() && !options.model.empty())
    return bad_input(
        "--cluster: inputs for a MODEL are searched here, each by what the last ones did; leave out one of "
        "both");
  documents::Hunt hunt;
  hunt.seed = static_cast<std::int64_t>(options.seed);
  DRIFTSCOPE_TRY(const OpenedHunt opened, open_cases(options, hunt));
  if (options.only) {
    DRIFTSCOPE_TRY(const HuntCase one, opened.cases->at(*options.only));
    DRIFTSCOPE_CHECK(write_case(one, plan.folder));
    print_out("{}: {}\n", options.out, one.text);
    return Exit::ok;
  }
  std::error_code error;
  fs::create_directories(plan.folder, error);
  if (error) return io_error(fmt::format("--out {}: {}", options.out, error.message()));
  DRIFTSCOPE_TRY(const std::unique_ptr<CampaignStore> store,
                 open_result_store(file_store_spec(plan.folder / "cases.jsonl"), "hunt", opened.fields,
                                   options.runner.site));
  std::unique_ptr<JobPool> pool;
  if (!options.cluster.empty()) {
    DRIFTSCOPE_TRY(pool, connect_cluster(options.cluster));
    plan.pool = pool.get();
    plan.job = [&](std::size_t target, std::int64_t first, std::int64_t count) {
      return block_job(options, plan, target, first, count);
    };
  }
  const auto stopped = std::make_shared<std::atomic<bool>>(false);
  SignalWatcher::on_stop([stopped] { *stopped = true; });
  plan.stopped = [stopped] { return stopped->load(); };
  ProgressLine line(options.quiet);
  plan.progress = [&](const std::string& step, std::int64_t done, std::int64_t total) {
    line.update(step, done, total);
  };
  plan.found = [&](const std::string& target, const documents::HuntFound& found, const std::string& of) {
    line.clear();
    print_out("{}", hunt::finding_line(target, found, of));
  };
  const Status ran = run_hunt(*opened.cases, plan, *store, hunt);
  SignalWatcher::on_stop(nullptr);
  line.clear();
  if (!ran.ok()) return ran.error();
  print_out("\n{}", hunt::hunt_text(hunt));
  DRIFTSCOPE_CHECK(write_file(plan.folder / "hunt.json", encode(hunt).dump(1) + "\n"));
  print_out("{}/hunt.json; the same command goes on from here\n", options.out);
  if (stopped->load()) return Exit::interrupted;
  const bool wrong = std::ranges::any_of(
      hunt.findings, [](const documents::HuntFinding& one) { return one.found.kind == "fault"; });
  return wrong ? Exit::fault : Exit::ok;
}

}  // namespace

namespace commands::hunt {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<HuntOptions>();
  app.add_option("MODEL", options->model,
                 "The .onnx file whose inputs are searched (default: models are made)");
  add_input_options(app, options->inputs);
  app.add_option("--targets", options->targets, "host/engine[:option=value,…], separated by commas")
      ->expected(1)
      ->take_all()
      ->capture_default_str();
  app.add_option("-o,--out", options->out, "Folder of the hunt; an earlier one is continued")->required();
  app.add_option("--budget", options->budget, "How long, such as 90s, 15m, 8h")->capture_default_str();
  app.add_option("--cases", options->cases, "Only the first cases of the seed, so many, on each target")
      ->check(CLI::Range(1, 100000000));
  app.add_option("--seed", options->seed, "The same seed gives the same cases")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 53))
      ->capture_default_str();
  app.add_option("--operators", options->operators, "Only of these families")
      ->delimiter(',')
      ->check(CLI::IsMember(family_names()));
  app.add_option("--reduce-seconds", options->reduce_seconds,
                 "At most so long for making a finding smaller; 0: nothing is kept of it but a line")
      ->check(CLI::Range(0, 86400))
      ->capture_default_str();
  app.add_option("--case", options->only,
                 "Write the model and inputs of this case of the seed to DIR, and end")
      ->check(CLI::Range(0, 1 << 30));
  app.add_option(
      "--cluster", options->cluster,
      "Address of a Dask scheduler, as tcp://10.0.0.5:8786: its workers judge the cases, what is found "
      "is made smaller here (docs/cluster.md)");
  app.add_flag("--quiet", options->quiet, "No progress line");
  add_runner_options(app, options->runner);
  app.footer(fmt::format(
      "Looks for what makes targets wrong. Without a MODEL small valid models are made from the seed, with "
      "odd\nsizes, rare attributes and values at the limits of types; with one, inputs for it: its own "
      "changed and\nkept where they bring layers to new magnitudes, zeros or NaN, and some moved along the "
      "gradient to the\nboundary between two classes. Every layer is judged as verify does. What is wrong in "
      "a new way is\nexplained, made smaller and kept in DIR/findings, as reduce does; further cases like it "
      "are counted.\nIt can be interrupted (Ctrl-C) at any time.\n\n"
      "  driftscope hunt --targets pc/ort,chrome/ort-webgpu --budget 1h -o hunt\n"
      "  driftscope hunt --targets pc/ort --budget 8h -o hunt --cluster tcp://10.0.0.5:8786\n"
      "  driftscope hunt model.onnx --targets chrome/ort-webgpu -o hunt\n\n"
      "Families for --operators: {}.\n\n"
      "Exit code 1: a fault was found.",
      fmt::join(family_names(), ", ")));
  return [options] {
    const auto exit = run_hunt_command(*options);
    if (exit.ok()) return *exit;
    print_error(exit.error());
    return exit_of(exit.error());
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 36,
             .name = "hunt",
             .summary = "Look for models and inputs with which targets are wrong.",
             .declare = declare});
}

}  // namespace commands::hunt

}  // namespace driftscope
