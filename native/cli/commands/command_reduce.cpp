// driftscope reduce MODEL [TRACE] [NODE] --target T [--input X]… [-o DIR] [--tries N]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "core/platform/platform.hpp"
#include "core/verify/verify.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/cli/verify_traces.hpp"
#include "native/host/inputs.hpp"
#include "native/host/reduce_run.hpp"
#include "native/host/targets.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

struct ReduceCommand {
  std::string model;
  std::string trace;
  std::string node;
  std::string target;
  std::vector<std::string> inputs;
  std::string folder;
  std::int64_t tries = 400;
  std::int64_t seconds = 600;
  std::int64_t runs = 20;
  bool quiet = false;
  RunnerOptions runner;
};

/// The trace that is given, or one that the target makes now.
Result<Trace> recorded_trace(const ReduceCommand& command, const ModelFile& model,
                             const TargetProgress& progress) {
  if (!command.trace.empty()) {
    Trace trace;
    DRIFTSCOPE_CHECK(with_trace(command.trace, command.target, [&](const TraceToVerify& given) -> Status {
      DRIFTSCOPE_TRY(trace, whole_trace(model.graph, given));
      return expect_model(model.sha256, trace);
    }));
    return trace;
  }
  if (command.target.empty())
    return bad_input("reduce: name the target that is wrong (--target chrome/ort-webgpu), or a trace of it");
  DRIFTSCOPE_TRY(const Target target, read_target(command.target));
  DRIFTSCOPE_TRY(const GivenInputs inputs, read_inputs(command.inputs, model));
  TargetRunner runner(command.runner);
  RunRequest request;
  request.model = &model;
  request.inputs = inputs.tensors;
  request.plan.capture = messages::Capture::all;
  return runner.run(target, request, progress);
}

Result<std::string> failing_node(const ReduceCommand& command, const ModelFile& model, const Trace& trace,
                                 ThreadPool& threads) {
  if (!command.node.empty()) return command.node;
  DRIFTSCOPE_TRY(const Verification verification, verify(model.graph, model.sha256, trace, threads));
  if (verification.first_fault) return *verification.first_fault;
  for (const LayerVerdict& layer : verification.layers)
    if (is_bad(layer.verdict)) return layer.node;
  return bad_input(
      fmt::format("{}: no layer is suspect or a fault: there is nothing to reduce", trace.target));
}

Status run_reduce(const ReduceCommand& command) {
  std::error_code error;
  if (!command.folder.empty() && std::filesystem::exists(command.folder, error))
    return bad_input(fmt::format("-o {}: it exists already; name a new folder", command.folder));
  ThreadPool threads(usable_processors());
  DRIFTSCOPE_TRY(const ModelFile model, load_model_file(command.model, Weights::deferred));
  ProgressLine line(command.quiet);
  const auto progress = [&](std::string_view step, std::int64_t done, std::int64_t total) {
    line.update(step, done, total);
  };
  DRIFTSCOPE_TRY(const Trace trace, recorded_trace(command, model, progress));
  DRIFTSCOPE_TRY(const std::string node, failing_node(command, model, trace, threads));
  const std::string text = command.target.empty() ? trace.target : command.target;
  DRIFTSCOPE_TRY(const Target target, read_target(text));
  const ReduceRunOptions options{.target = target,
                                 .runner = command.runner,
                                 .tries = command.tries,
                                 .seconds = command.seconds,
                                 .table_runs = command.runs};
  DRIFTSCOPE_TRY(const ReduceRun run,
                 reduce_layer(model.graph, TraceView(trace), node, options, threads, progress));
  line.clear();
  print_out("{}", reduced_text(run, node));
  if (command.folder.empty()) return {};
  DRIFTSCOPE_TRY(const ReducedFiles written,
                 write_reduced(run.reduced.excerpt, command.folder, options, threads, progress));
  line.clear();
  if (written.report)
    print_out("{}/: {}\n", command.folder, fmt::join(written.files, ", "));
  else
    print_out("{}/: model.onnx with its inputs and the expected result\n", command.folder);
  return {};
}

}  // namespace

namespace commands::reduce {

static Command declare(CLI::App& app) {
  auto command = std::make_shared<ReduceCommand>();
  app.add_option("MODEL", command->model, "The .onnx file")->required();
  app.add_option(
      "TRACE", command->trace,
      "What the target recorded, with all values, or a kept comparison (.drift) and --target (default: it is "
      "run now)");
  app.add_option("NODE", command->node, "Which node (default: the first fault)");
  app.add_option("--target", command->target, "host/engine (default: the one that made the trace)");
  add_input_options(app, command->inputs);
  app.add_option("-o,--output", command->folder, "Write the result as a folder, as repro does");
  app.add_option("--tries", command->tries, "At most so many runs on the target")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--seconds", command->seconds, "At most so long")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--runs", command->runs,
                 "With -o, at most so many runs for the table over one size or attribute; 0: no table")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_flag("--quiet", command->quiet, "No progress line");
  add_runner_options(app, command->runner);
  app.footer(
      "From a model that fails to the smallest part that still fails in the same way: the node alone with "
      "its\n"
      "recorded inputs, or with what comes before it; then smaller sizes, fewer inputs, fewer attributes, "
      "plainer\n"
      "numbers, each tried on the target. The verdict must stay, and the cause where one is known "
      "(explain).\n\n"
      "  driftscope reduce model.onnx --target chrome/ort-webgpu -o report\n\n"
      "To go on later, reduce report/model.onnx with --input x0=report/x0.npy.");
  return [command] {
    if (const Status status = run_reduce(*command); !status.ok())
      return print_error(status.error()), exit_of(status.error());
    return Exit::ok;
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 23,
             .name = "reduce",
             .summary = "Find the smallest part of a model that still fails on a target.",
             .declare = declare});
}

}  // namespace commands::reduce

}  // namespace driftscope
