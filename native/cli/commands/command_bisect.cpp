// driftscope bisect MODEL [--input X]… --over OPTION [--levels A,B,…] [--target T] [--json OUT]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "core/engines/peer/rewritten.hpp"
#include "core/platform/platform.hpp"
#include "core/report/bisect_view.hpp"
#include "core/runtime/resolve_target.hpp"
#include "native/cli/commands/capture_options.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/host/inputs.hpp"
#include "native/host/targets.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

struct BisectOptions {
  std::string model;
  std::vector<std::string> inputs;
  std::string over = "opt";
  std::vector<std::string> levels;
  std::string target = "pc/ort";
  std::string trace = "fused";
  std::string json;
  bool quiet = false;
  RunnerOptions runner;
};

/// The values to try: those given, or all that the engine's description lists.
Result<std::vector<std::string>> levels_of(const BisectOptions& options, const Engine& engine) {
  if (!options.levels.empty()) return options.levels;
  std::string listed;
  for (const EngineOption& option : engine.info().options) {
    if (option.name == options.over && !option.values.empty()) return option.values;
    if (!option.values.empty()) listed += (listed.empty() ? "" : ", ") + option.name;
  }
  return bad_input(fmt::format(
      "--over {}: engine {} has no option of this name with a list of values{}; name the values to try, in "
      "order: --levels A,B,…",
      options.over, engine.name(), listed.empty() ? "" : " (those that it has: " + listed + ")"));
}

std::shared_ptr<const ModelSource> source_of(const ModelFile& model) {
  auto source = std::make_shared<ModelSource>();
  source->model = model.bytes;
  for (const JobAttachment& file : model.attachments) source->files.push_back({file.location, file.bytes});
  return source;
}

class Levels {
 public:
  Levels(const BisectOptions& options, const ModelFile& model, GivenInputs inputs)
      : options_(options),
        model_(model),
        inputs_(std::move(inputs)),
        runner_(options.runner),
        threads_(usable_processors()),
        line_(options.quiet) {}

  [[nodiscard]] LevelRun run(Target target, const std::string& level) {
    target.options[options_.over] = level;
    LevelRun result{.level = level, .target = target.text()};
    if (const Status status = run(target, result); !status.ok()) result.error = status.error();
    line_.clear();
    return result;
  }
  /// Why the rewritten model is not known; empty: it is known, or a level failed.
  [[nodiscard]] const std::string& why_no_nodes() const { return why_no_nodes_; }

 private:
  Status run(const Target& target, LevelRun& result) {
    const auto progress = [&](std::string_view step, std::int64_t done, std::int64_t total) {
      line_.update(fmt::format("{}: {}", target.text(), step), done, total);
    };
    RunRequest request;
    request.model = &model_;
    request.inputs = inputs_.tensors;
    request.plan.capture =
        messages::named<messages::Capture>(options_.trace).value_or(messages::Capture::fused);
    DRIFTSCOPE_TRY(Trace trace, runner_.run(target, request, progress));
    progress("verifying", 0, 0);
    DRIFTSCOPE_TRY(result.verification, verify(model_.graph, model_.sha256, trace, threads_));
    result.trace = std::move(trace);
    outline(target, result);
    return {};
  }

  void outline(const Target& target, LevelRun& result) {
    if (target.host != "pc") {
      why_no_nodes_ =
          "in a browser the model as rewritten by the runtime is not available: only its outputs are "
          "compared";
      return;
    }
    const auto resolved = resolve_target(target);
    if (!resolved.ok()) return;
    if (!source_) source_ = source_of(model_);
    auto rewritten = peer::rewritten_outline(*resolved->engine, source_, resolved->options);
    if (rewritten.ok())
      result.rewritten = *std::move(rewritten);
    else
      why_no_nodes_ = rewritten.error().message;
  }

  const BisectOptions& options_;
  const ModelFile& model_;
  GivenInputs inputs_;
  TargetRunner runner_;
  ThreadPool threads_;
  ProgressLine line_;
  std::shared_ptr<const ModelSource> source_;
  std::string why_no_nodes_;
};

Result<Exit> run_bisect(const BisectOptions& options) {
  DRIFTSCOPE_TRY(const Target target, read_target(options.target));
  if (target.host == "file") return bad_input("bisect runs the model: give a target, not a trace");
  if (target.options.contains(options.over))
    return bad_input(
        fmt::format("--target {}: it sets {}, which bisect varies", options.target, options.over));
  DRIFTSCOPE_TRY(const Engine* engine, find_engine(target.engine));
  DRIFTSCOPE_TRY(const auto levels, levels_of(options, *engine));
  for (const std::string& level : levels) {
    Target tried = target;
    tried.options[options.over] = level;
    DRIFTSCOPE_TRY(const auto resolved, resolve_target(tried));
  }
  DRIFTSCOPE_TRY(const ModelFile model, load_model_file(options.model, Weights::deferred));
  DRIFTSCOPE_TRY(GivenInputs inputs, read_inputs(options.inputs, model));
  const std::string input_text = inputs.text;
  Levels runner(options, model, std::move(inputs));
  std::vector<LevelRun> runs;
  for (const std::string& level : levels) runs.push_back(runner.run(target, level));
  DRIFTSCOPE_TRY(LevelBisect result, bisect_levels(model.graph, options.over, runs));
  result.why_no_nodes = runner.why_no_nodes();
  if (options.json != "-")
    print_out("{}  {}  input {}\n\n{}", model.name, target.text(), input_text, bisect_text(result));
  if (!options.json.empty())
    DRIFTSCOPE_CHECK(write_json(options.json, bisect_json(result, model.sha256) + "\n"));
  Exit exit = Exit::ok;
  for (const LevelResult& level : result.levels) {
    if (level.error) {
      print_error(in_context(*level.error, level.target));
      if (exit == Exit::ok) exit = exit_of(*level.error);
    }
    if (level.verdict == Verdict::fault) exit = Exit::fault;
  }
  return exit;
}

}  // namespace

namespace commands::bisect {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<BisectOptions>();
  app.add_option("MODEL", options->model, "The .onnx file")->required();
  add_input_options(app, options->inputs);
  app.add_option("--over", options->over, "The option of the engine that is varied")->capture_default_str();
  app.add_option("--levels", options->levels,
                 "Its values, in the order in which they are tried (default: all that the engine lists)")
      ->delimiter(',')
      ->expected(1)
      ->take_all();
  app.add_option("--target", options->target, "host/engine[:option=value,…]")->capture_default_str();
  app.add_option(
         "--trace", options->trace,
         "What is compared: 'fused', the values that each level leaves; 'outputs', the model's outputs. "
         "(Not 'all': nothing is rewritten across values that are captured)")
      ->check(CLI::IsMember({"fused", "outputs"}))
      ->capture_default_str();
  app.add_option("--json", options->json, "Write everything as JSON ('-': standard output)");
  app.add_flag("--quiet", options->quiet, "No progress line");
  add_runner_options(app, options->runner);
  app.footer(
      "Runs the model once for each value of the option and says which is the first whose outputs have "
      "other\n"
      "bits than with the first value, which is the first with a worse verdict, what the runtime rewrote\n"
      "between it and the one before (pc/ort: nodes that were fused, folded or laid out differently), "
      "and\n"
      "the first value that differs. A difference alone is not a fault.\n\n"
      "  driftscope bisect model.onnx --over opt --target pc/ort\n\n"
      "Exit code 1: some level is a fault.");
  return [options] {
    const auto exit = run_bisect(*options);
    if (exit.ok()) return *exit;
    print_error(exit.error());
    return exit_of(exit.error());
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 35,
             .name = "bisect",
             .summary = "Find the optimisation level at which a result changes, and what it rewrites.",
             .declare = declare});
}

}  // namespace commands::bisect

}  // namespace driftscope
