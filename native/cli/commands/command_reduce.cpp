// driftscope reduce MODEL [TRACE] [NODE] --target T [--input X]… [-o DIR] [--tries N]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/platform/platform.hpp"
#include "core/repro/reduce.hpp"
#include "core/repro/report_files.hpp"
#include "core/verify/verify.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/cli/verify_traces.hpp"
#include "native/host/excerpt_runner.hpp"
#include "native/host/inputs.hpp"
#include "native/host/repro_run.hpp"
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
  bool quiet = false;
  RunnerOptions runner;
};

/// The trace that is given, or one that the target makes now.
Result<Trace> recorded_trace(const ReduceCommand& command, const ModelFile& model,
                             const TargetProgress& progress) {
  if (!command.trace.empty()) {
    DRIFTSCOPE_TRY(const MappedFile file, MappedFile::open(command.trace));
    DRIFTSCOPE_TRY(Trace trace, whole_trace(model.graph, {command.trace, file.bytes()}));
    DRIFTSCOPE_CHECK(expect_model(model.sha256, trace));
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

class Reduction {
 public:
  Reduction(const ReduceCommand& command, Target target, const ModelFile& model, const Trace& trace,
            std::string node, ThreadPool& threads, ProgressLine& line)
      : command_(command),
        target_(std::move(target)),
        model_(model),
        trace_(trace),
        node_(std::move(node)),
        threads_(threads),
        line_(line),
        runner_(target_, command.runner, threads, [](std::string_view, std::int64_t, std::int64_t) {}) {}

  Result<Reduced> run() {
    DRIFTSCOPE_TRY(Excerpt excerpt, failing_excerpt());
    ReduceOptions options{.most_tries = command_.tries, .repeats = flaky_ ? 5 : 1, .go_on = {}};
    const auto end = Clock::now() + std::chrono::seconds(command_.seconds);
    options.go_on = [&](const ReduceProgress& now) {
      line_.update(
          fmt::format("{}: {} elements, trying {}", target_.text(), format_count(now.elements), now.step),
          now.tried, command_.tries);
      return Clock::now() < end;
    };
    return reduce(std::move(excerpt), [&](Excerpt& one) { return runner_.run(one); }, options, threads_);
  }

  [[nodiscard]] bool flaky() const { return flaky_; }
  /// What ran last.
  [[nodiscard]] const Trace& about() const { return runner_.about(); }

 private:
  using Clock = std::chrono::steady_clock;

  /// The node alone; where that is right on the target, with more and more of what comes before it.
  Result<Excerpt> failing_excerpt() {
    constexpr int most_before = 4;
    std::string verdicts;
    for (int before = 0; before <= most_before; ++before) {
      DRIFTSCOPE_TRY(Excerpt excerpt, excerpt_of(model_.graph, TraceView(trace_), node_, threads_, before));
      line_.update(fmt::format("{}: {} nodes alone", target_.text(), excerpt.graph.nodes.size()), 0, 0);
      int wrong = 0;
      constexpr int runs = 3;
      std::optional<Excerpt> failing;
      for (int i = 0; i < runs; ++i) {
        DRIFTSCOPE_TRY(const LayerVerdict verdict, runner_.run(excerpt));
        if (!is_bad(verdict.verdict)) continue;
        ++wrong;
        failing = excerpt;
      }
      flaky_ = wrong > 0 && wrong < runs;
      if (failing) return *std::move(failing);
      verdicts += fmt::format("{}{}", verdicts.empty() ? "" : ", ", excerpt.graph.nodes.size());
    }
    return unsupported(
        fmt::format("'{}' is right on {} when it stands alone, and with what is before it ({} nodes tried): "
                    "the fault needs the "
                    "rest of the model, or came only once",
                    node_, target_.text(), verdicts));
  }

  const ReduceCommand& command_;
  const Target target_;
  const ModelFile& model_;
  const Trace& trace_;
  const std::string node_;
  ThreadPool& threads_;
  ProgressLine& line_;
  ExcerptRunner runner_;
  bool flaky_ = false;
};

std::string reduced_text(const Reduced& reduced, const std::string& node, bool flaky) {
  std::string text = fmt::format(
      "{} of '{}', {} tries, {} steps: {} elements became {}{}\n", repro::nodes_text(reduced.excerpt.graph),
      node, reduced.tried, reduced.steps.size(), format_count(reduced.elements_before),
      format_count(reduced.elements_after), reduced.finished ? "" : "; not all steps were tried");
  if (flaky) text += "the fault does not come in every run: each step was tried up to five times\n";
  for (const ReduceStep& step : reduced.steps)
    text += fmt::format("  {:>9}  {}\n", format_count(step.elements), step.text);
  const LayerVerdict& verdict = reduced.excerpt.verdict;
  if (verdict.explanation) text += explanation_text(*verdict.explanation) + "\n";
  return text;
}

/// For runtimes without a page of their own.
Status write_plain(const Excerpt& excerpt, const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::create_directory(folder, error))
    return bad_input(fmt::format("-o {}: it exists already, or cannot be made", folder));
  DRIFTSCOPE_TRY(const auto files, repro::model_files(excerpt));
  for (const repro::File& file : files)
    DRIFTSCOPE_CHECK(
        write_file(std::filesystem::path(folder) / file.name, std::span<const std::byte>(file.bytes)));
  print_out("{}/: model.onnx with its inputs and the expected result\n", folder);
  return {};
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
  Reduction reduction(command, target, model, trace, node, threads, line);
  DRIFTSCOPE_TRY(Reduced reduced, reduction.run());
  DRIFTSCOPE_CHECK(set_expected(reduced.excerpt, reduction.about(), threads));
  line.clear();
  print_out("{}", reduced_text(reduced, node, reduction.flaky()));
  if (command.folder.empty()) return {};
  if (!repro::runtime_for(target.engine).ok()) return write_plain(reduced.excerpt, command.folder);
  ReproOptions options{.folder = command.folder, .target = target, .runner = command.runner};
  DRIFTSCOPE_TRY(const ReproResult made, make_report(reduced.excerpt, options, threads, progress));
  line.clear();
  print_out("{}/: {}\n", command.folder, fmt::join(made.files, ", "));
  return {};
}

}  // namespace

namespace commands::reduce {

static Command declare(CLI::App& app) {
  auto command = std::make_shared<ReduceCommand>();
  app.add_option("MODEL", command->model, "The .onnx file")->required();
  app.add_option("TRACE", command->trace,
                 "What the target recorded, with all values (default: it is run now)");
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
