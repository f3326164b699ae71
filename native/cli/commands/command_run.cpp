// driftscope run MODEL [--input X]… | --dataset D  --target T [--trace OUT] [--repeat N]
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <span>

#include "core/base/format.hpp"
#include "core/dataset/dataset_format.hpp"
#include "core/graph/print.hpp"
#include "core/platform/platform.hpp"
#include "core/report/programs_text.hpp"
#include "core/report/run_time_text.hpp"
#include "core/report/tables.hpp"
#include "core/results/output.hpp"
#include "core/runtime/engine.hpp"
#include "core/trace/run_fact.hpp"
#include "core/trace/trace_file.hpp"
#include "core/verify/perturbation.hpp"
#include "core/verify/repeats.hpp"
#include "native/cli/commands/capture_options.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/layer_options.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/compare/comparison_host.hpp"
#include "native/host/dataset_run.hpp"
#include "native/host/inputs.hpp"
#include "native/host/node_programs.hpp"
#include "native/host/sample_files.hpp"
#include "native/host/targets.hpp"
#include "native/host/trace_writer.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

struct RunOptions {
  std::string model;
  std::vector<std::string> inputs;
  std::string dataset;
  std::string target = default_target();
  std::string trace;
  CaptureOptions capture;
  LayerChoice layers;
  int repeat = 1;
  double times = 0.0;  // s of unwatched runs
  bool outputs_only = false;
  bool print_graph = false;
  std::string print_shader;
  bool quiet = false;
  RunnerOptions runner;
};

Status run_dataset_command(const RunOptions& options, const ModelFile& model, const Target& target) {
  DRIFTSCOPE_TRY(const GivenDataset dataset, read_dataset(options.dataset, model));
  ProgressLine line(options.quiet);
  const auto progress = [&](std::string_view step, std::int64_t done, std::int64_t total) {
    line.update(fmt::format("{}: {}", target.text(), step), done, total);
  };
  TargetRunner runner(options.runner);
  DRIFTSCOPE_TRY(const DatasetRun run, run_dataset(runner, target, model, dataset, progress));
  line.clear();
  ComparisonView view;
  view.left.target = target.text();
  view.left.dataset = run.result;
  print_out("{}  {}\n{}", model.name, dataset.text, dataset_table(view));
  const std::string out = parse_trace_option(options.trace, options.model, target).path;
  if (out.empty()) return {};
  DRIFTSCOPE_TRY(const auto bytes, write_trace(run.trace));
  DRIFTSCOPE_CHECK(write_file(out, bytes));
  print_out("outputs of all samples: {}\n", out);
  return {};
}

/// Writes the rest of the trace, or without a writer all of it; returns the size of the file.
Result<std::int64_t> write_recorded(const std::string& path, const Trace& trace,
                                    std::optional<TraceWriter>& writer) {
  if (writer) return writer->finish(trace);
  DRIFTSCOPE_TRY(const auto bytes, write_trace(trace));
  DRIFTSCOPE_CHECK(write_file(path, bytes));
  return static_cast<std::int64_t>(bytes.size());
}

/// Whether a run needs the values of inner layers: for a file, or to check by them.
bool needs_values(const RunOptions& options, const std::string& file) {
  return !file.empty() || options.capture.repeat_check > 0 || options.capture.perturbation_check;
}

/// What the trace does not hold: of a file, as it went there, else as the shapes of these inputs say.
WrittenValues sizes_of(const std::optional<TraceWriter>& writer, const Graph& graph,
                       const NamedInputs& inputs) {
  WrittenValues sizes;
  if (writer) {
    for (const SafetensorsEntry& one : writer->values()) sizes[one.name] = {one.shape, one.end - one.begin};
    return sizes;
  }
  const auto bound = bind_inputs(graph, inputs);
  if (!bound.ok()) return sizes;
  for (const Value& value : bound->graph->values) {
    const auto shape = value.static_shape();
    const auto bytes = shape ? tensor_byte_size(value.dtype, *shape) : Result<std::int64_t>(0);
    if (shape && bytes.ok()) sizes[value.name] = {*shape, *bytes};
  }
  return sizes;
}

Result<TraceOption> read_trace_option(const RunOptions& options, const Target& target) {
  TraceOption trace = parse_trace_option(options.trace, options.model, target);
  if (!options.outputs_only) return trace;
  if (trace.capture && *trace.capture != Capture::outputs)
    return bad_input(fmt::format("--outputs-only and --trace {} exclude each other", options.trace));
  trace.capture = Capture::outputs;
  return trace;
}

/// The report on repeated runs, which may need the values of the trace file.
Result<std::optional<RepeatVerification>> repeats_of(const ModelFile& model, const Trace& trace,
                                                     const std::string& file) {
  ThreadPool threads(usable_processors());
  if (file.empty()) return verify_repeats(model.graph, TraceView(trace), threads);
  DRIFTSCOPE_TRY(const MappedFile mapped, MappedFile::open(file));
  DRIFTSCOPE_TRY(const TraceView view, TraceView::open(mapped.bytes()));
  return verify_repeats(model.graph, view, threads);
}

/// Shows the progress of the only target.
class RunProgress final : public ComparisonListener {
 public:
  RunProgress(std::string target, ProgressLine& line) : target_(std::move(target)), line_(line) {}
  void on_progress(std::size_t, ComparisonStage, std::string_view step, std::int64_t done,
                   std::int64_t total) override {
    line_.update(fmt::format("{}: {}", target_, step), done, total);
  }
  void on_result(std::size_t) override {}

 private:
  std::string target_;
  ProgressLine& line_;
};

/// The run and its checks: a comparison of one target that judges nothing.
Result<Trace> record(const RunOptions& options, const ModelFile& model, const Target& target,
                     const ComparisonInputs& inputs, ProgressLine& line) {
  TargetRunner runner(options.runner);
  NativeComparisonHost host(model, inputs, runner);
  ThreadPool threads(1);
  RunProgress progress(target.text(), line);
  ComparisonRun run(model.graph,
                    {.targets = {target.text()},
                     .perturbation_check = options.capture.perturbation_check,
                     .verify = false,
                     .watch_memory = watches_memory(inputs, std::span(&target, 1))},
                    {}, host, threads, progress);
  while (true) {
    DRIFTSCOPE_TRY(const RunState state, run.poll());
    if (state == RunState::finished) break;
  }
  TargetResult result = run.take().left;
  if (result.error) return *std::move(result.error);
  return *std::move(result.trace);
}

/// Prints what was found out about several runs, and whether that is a failed check: one that was asked for.
Result<Exit> print_checks_of_runs(const CaptureOptions& asked, const ModelFile& model, const Trace& trace,
                                  const std::string& file) {
  Exit exit = Exit::ok;
  DRIFTSCOPE_TRY(const auto repeats, repeats_of(model, trace, file));
  if (repeats) {
    print_out("\n{}\n", plain_text(repeats_text(*repeats), whole_text));
    if (asked.repeat_check > 0 && !repeats->check.agree()) exit = Exit::fault;
  }
  if (const auto memory = memory_over_runs_of(trace)) {
    print_out("\n{}\n", memory_over_runs_text(*memory));
    if (asked.memory_runs > 0 && growth_of(*memory) == Growth::grows) exit = Exit::fault;
  }
  return exit;
}

/// On the model, and on what these inputs show of it.
std::vector<std::string> all_notes(const ModelFile& model, const Trace& trace) {
  std::vector<std::string> notes = note_lines(model.graph.notes);
  for (std::string& note : notes_of_run(trace)) notes.push_back(std::move(note));
  return notes;
}

Result<Exit> run_one(const RunOptions& options, const ModelFile& model, const Target& target) {
  ComparisonInputs inputs;
  DRIFTSCOPE_TRY(inputs.inputs, read_inputs(options.inputs, model));
  DRIFTSCOPE_TRY(const TraceOption out, read_trace_option(options, target));
  inputs.plan.repeat = std::max(options.repeat, options.capture.repeat_check);
  inputs.plan.compare_runs = options.capture.repeat_check > 0;
  inputs.plan.unwatched_ms = std::llround(options.times * 1e3);
  inputs.plan.capture = capture_message(out.capture.value_or(Capture::all));
  inputs.memory_runs = options.capture.memory_runs;
  inputs.on_devices = device_checks(options.capture);
  DRIFTSCOPE_TRY(inputs.plan.values, captured_values(model.graph, options.capture));
  ProgressLine line(options.quiet);
  if (!needs_values(options, out.path)) inputs.plan.values.emplace();
  std::optional<TraceWriter> writer;
  if (target.host != "file" && can_be_replaced(out.path)) {
    DRIFTSCOPE_TRY(TraceWriter made, TraceWriter::create(out.path, model.graph,
                                                         static_cast<int>(plan_on(target, inputs).repeat)));
    writer.emplace(std::move(made));
    inputs.sink = [&](const std::string& name, const Tensor& tensor) { return writer->add(name, tensor); };
  }
  DRIFTSCOPE_TRY(Trace trace, record(options, model, target, inputs, line));
  line.clear();
  print_out("{}  {}  input {}\n{}\n{}\n{}", model.name, trace.target, inputs.inputs.text, run_text(trace),
            notes_text(all_notes(model, trace)),
            run_table(trace, options.layers, sizes_of(writer, model.graph, inputs.inputs.tensors)));
  const MemoryRecord peak = peak_memory(trace);
  const RunTime time = run_time(trace);
  print_out("\nwhole model {}; {}; peak memory {} ({})\n", plain_text(run_time_text(time), 1000),
            plain_text(layer_times_text(time), 100), format_bytes(peak.bytes),
            peak.kind.empty() ? "unknown" : peak.kind);
  if (const std::string traced = perturbation_text(trace); !traced.empty()) print_out("{}\n", traced);
  if (const Tensor* output = answer(trace)) print_out("\n{}", output_lines(*output, class_names(model)));
  if (!out.path.empty()) {
    DRIFTSCOPE_TRY(const std::int64_t size, write_recorded(out.path, trace, writer));
    print_out("\ntrace: {} ({})\n", out.path, format_bytes(size));
  }
  return print_checks_of_runs(options.capture, model, trace, writer ? out.path : "");
}

Status print_shaders(const RunOptions& options, const ModelFile& model, const Target& target) {
  DRIFTSCOPE_TRY(GivenInputs inputs, read_inputs(options.inputs, model));
  DRIFTSCOPE_TRY(const TraceOption mode, read_trace_option(options, target));
  RunRequest request;
  request.model = &model;
  request.inputs = std::move(inputs.tensors);
  request.plan.capture = capture_message(mode.capture.value_or(Capture::all));
  ProgressLine line(options.quiet);
  TargetRunner runner(options.runner);
  DRIFTSCOPE_TRY(const NodePrograms found,
                 node_programs(runner, target, request, options.print_shader,
                               [&](std::string_view step, std::int64_t done, std::int64_t total) {
                                 line.update(fmt::format("{}: {}", target.text(), step), done, total);
                               }));
  line.clear();
  print_out("// {}  {}  input {}\n{}", model.name, target.text(), inputs.text,
            programs_text(found, target.engine));
  return {};
}

Result<Exit> run_command(const RunOptions& options) {
  DRIFTSCOPE_TRY(const ModelFile model, load_model_file(options.model, Weights::deferred));
  if (options.print_graph) {
    print_out("{}", print_graph(model.graph));
    return Exit::ok;
  }
  DRIFTSCOPE_TRY(const Target target, read_target(options.target));
  if (!options.print_shader.empty()) {
    DRIFTSCOPE_CHECK(print_shaders(options, model, target));
  } else if (options.dataset.empty()) {
    return run_one(options, model, target);
  } else if (options.capture.repeat_check > 0) {
    return bad_input("--repeat-check compares runs of one input; it and --dataset exclude each other");
  } else {
    DRIFTSCOPE_CHECK(run_dataset_command(options, model, target));
  }
  return Exit::ok;
}

}  // namespace

namespace commands::run {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  app.add_option("MODEL", options->model, "The .onnx file")->required();
  auto* input = add_input_options(app, options->inputs);
  app.add_option("--dataset", options->dataset,
                 fmt::format("Run a whole data set and print the accuracy: {} (folders: imdb has neg/ and "
                             "pos/, one .txt per text; images one folder per class)",
                             dataset_forms()))
      ->excludes(input);
  app.add_option("--target", options->target, "host/engine[:option=value,…]")->capture_default_str();
  app.add_option(
      "--trace", options->trace,
      "Write what was recorded (safetensors): OUT, MODE:OUT, or MODE alone, which names the file "
      "after model and target. MODE: 'all' (the default), every value, node by node; 'fused', what "
      "the execution really has when it may fuse and skip nodes (verify judges the groups "
      "between); 'outputs', the model's outputs");
  add_capture_options(app, options->capture);
  add_layer_option(app, options->layers);
  app.add_option("--repeat", options->repeat,
                 "Number of watched runs; values are from the first, times from all (see --repeat-check)")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--times", options->times,
                 "Also run the whole model unwatched for so many seconds, at least twice: its time as users "
                 "see it, without the cost of keeping every value")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.add_flag("--outputs-only", options->outputs_only,
               "Keep the model's outputs, not every layer: as --trace outputs");
  app.add_flag("--print-graph", options->print_graph, "Print the graph with its shapes and stop");
  app.add_option("--print-shader", options->print_shader,
                 "Print the shaders that a GPU engine, on this PC or in a browser, makes for the node with "
                 "this name, label or output, with what they are bound to and dispatched as, device and "
                 "driver, and stop: for a bug report to the vendor of a browser or driver. With "
                 "--outputs-only nodes are fused")
      ->option_text("NODE")
      ->excludes("--dataset");
  app.add_flag("--quiet", options->quiet, "No progress line");
  add_runner_options(app, options->runner);
  return [options] {
    const auto exit = run_command(*options);
    if (exit.ok()) return *exit;
    print_error(exit.error());
    return exit_of(exit.error());
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 10,
             .name = "run",
             .summary = "Run a model on one target; print its layers, write a trace.",
             .declare = declare});
}

}  // namespace commands::run

}  // namespace driftscope
