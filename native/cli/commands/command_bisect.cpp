// driftscope bisect MODEL [--input X]… --over OPTION [--levels A,B,…] [--target T] [--json OUT]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "core/report/bisect_view.hpp"
#include "native/cli/commands/capture_options.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/host/bisect_run.hpp"
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
  bool every = false;
  int repeats = 3;
  bool quiet = false;
  RunnerOptions runner;
};

Result<Exit> bisect_model(const BisectOptions& options) {
  BisectRequest request;
  DRIFTSCOPE_TRY(request.target, read_target(options.target));
  if (request.target.host == "file") return bad_input("bisect runs the model: give a target, not a trace");
  DRIFTSCOPE_TRY(const ModelFile model, load_model_file(options.model, Weights::deferred));
  DRIFTSCOPE_TRY(GivenInputs inputs, read_inputs(options.inputs, model));
  request.model = &model;
  request.inputs = std::move(inputs.tensors);
  request.over = options.over;
  request.levels = options.levels;
  request.capture = messages::named<messages::Capture>(options.trace).value_or(messages::Capture::fused);
  request.every = options.every;
  request.repeats = options.repeats;
  request.runner = options.runner;
  ProgressLine line(options.quiet);
  auto found = run_bisect(request, [&](const std::string& step, std::int64_t done, std::int64_t total) {
    line.update(step, done, total);
  });
  line.clear();
  if (!found.ok()) return std::move(found).error();
  if (options.json != "-")
    print_out("{}  {}  input {}\n\n{}", model.name, request.target.text(), inputs.text, bisect_text(*found));
  if (!options.json.empty())
    DRIFTSCOPE_CHECK(write_json(options.json, bisect_json(*found, model.sha256) + "\n"));
  const bool failed = std::ranges::any_of(found->levels, [](const LevelResult& level) {
    return level.error.has_value() || level.verdict == Verdict::fault;
  });
  return failed ? Exit::fault : Exit::ok;
}

std::string axes_text() {
  std::string text;
  for (const BisectAxis& axis : axis_table().all())
    text += fmt::format("  {:<9} {}\n", axis.name, axis.summary);
  return text;
}

}  // namespace

namespace commands::bisect {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<BisectOptions>();
  app.add_option("MODEL", options->model, "The .onnx file")->required();
  add_input_options(app, options->inputs);
  app.add_option("--over", options->over, "What is varied: an axis (below), or an option of the engine")
      ->capture_default_str();
  app.add_option(
         "--levels", options->levels,
         "Its values, in the order in which they are tried, of an axis also ranges A..B (default: all)")
      ->delimiter(',')
      ->expected(1)
      ->take_all();
  app.add_flag("--every", options->every, "Run every level, not only those that a search needs");
  app.add_option("--repeats", options->repeats,
                 "Runs of a right level beside a wrong one, which may be flaky")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
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
      "Runs the model at one level after the other and says where its result changes, what the runtime "
      "rewrote\n"
      "there (pc/ort: nodes that were fused, folded or laid out differently), and the first value that "
      "differs.\n"
      "A difference alone is not a fault.\n\n" +
      axes_text() +
      "\nReleases and optimisers are searched: the first and the last, then the middle between two that "
      "differ\n"
      "(--every runs all). Right levels beside wrong ones run --repeats times. That a level does not load is "
      "a\n"
      "result as well. Where the verdicts of both ends are the same, the bits of the outputs are "
      "compared.\n\n"
      "  driftscope bisect model.onnx --over opt --target pc/ort\n"
      "  driftscope bisect model.onnx --over release --target chrome/ort-webgpu --levels 1.22.0..\n"
      "  driftscope bisect model.onnx --over build --target chrome/ort-webgpu:release=1.25.1\n"
      "  driftscope bisect model.onnx --over pass --target pc/ort\n\n"
      "Exit code 1: some level is a fault, or does not run.");
  return [options] {
    const auto exit = bisect_model(*options);
    if (exit.ok()) return *exit;
    print_error(exit.error());
    return exit_of(exit.error());
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 35,
             .name = "bisect",
             .summary = "Find the release, optimiser or option at which a result changes.",
             .declare = declare});
}

}  // namespace commands::bisect

}  // namespace driftscope
