// driftscope repro MODEL TRACE [NODE] [--target T] [-o DIR] [--anonymous]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "core/base/json.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/name_match.hpp"
#include "core/verify/type_match.hpp"
#include "generated/documents/repro.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/cli/verify_traces.hpp"
#include "native/host/reduce_run.hpp"
#include "native/host/repro_run.hpp"
#include "native/host/targets.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

struct ReproCommand {
  std::string model;
  std::string trace;
  std::string node;
  std::string target;
  std::string folder;
  std::string json;
  std::int64_t runs = 20;
  bool anonymous = false;
  bool quiet = false;
  RunnerOptions runner;
};

/// The first node that is a fault, else the first that is suspect.
Result<std::string> worst_node(const GraphFile& model, const TraceToVerify& trace, ThreadPool& threads,
                               ProgressLine& line) {
  DRIFTSCOPE_TRY(const VerifiedFile verified, verify_trace(model, trace, threads, line));
  line.clear();
  if (verified.verification.first_fault) return *verified.verification.first_fault;
  for (const LayerVerdict& layer : verified.verification.layers)
    if (is_bad(layer.verdict)) return layer.node;
  return bad_input(fmt::format("{}: no layer is suspect or a fault: there is nothing to report", trace.name));
}

std::string result_text(const ReproResult& result, const std::string& folder) {
  std::string text = fmt::format("{}/\n", folder);
  for (const std::string& file : result.files) text += "  " + file + "\n";
  if (!result.page.empty()) text += fmt::format("index.html was run: {}\n", result.page);
  if (!result.script.empty()) text += fmt::format("repro.py: {}\n", result.script);
  if (result.table) text += fmt::format("it is {}\n", parameter_text(*result.table));
  if (!result.no_table.empty()) text += fmt::format("no table over one parameter: {}\n", result.no_table);
  text += "It discloses:\n";
  for (const std::string& line : result.disclosed) text += "  " + line + "\n";
  return text;
}

Status report_of(const ReproCommand& command, const GraphFile& model, const TraceToVerify& given,
                 ThreadPool& threads) {
  ProgressLine line(command.quiet);
  std::string node = command.node;
  if (node.empty()) {
    DRIFTSCOPE_TRY(node, worst_node(model, given, threads, line));
  }
  auto trace = TraceView::open(given.bytes);
  if (!trace.ok()) return in_context(std::move(trace).error(), given.name);
  DRIFTSCOPE_CHECK(expect_model(model.sha256.get(), trace->about()));
  rename_values(match_names(model.graph, *trace), *trace);
  convert_types(match_types(model.graph, *trace), *trace);
  const std::string target = command.target.empty() ? trace->about().target : command.target;
  if (target.empty())
    return bad_input(
        fmt::format("{}: the trace does not say what made it; name the target: --target", given.name));
  ReproOptions options{.folder = command.folder, .target = {}, .runner = command.runner};
  options.anonymous = command.anonymous;
  options.table_runs = command.runs;
  DRIFTSCOPE_TRY(options.target, read_target(target));
  if (options.folder.empty()) options.folder = report_folder("repro", node);
  DRIFTSCOPE_TRY(const Excerpt one, excerpt_of(model.graph, *trace, node, threads));
  const auto progress = [&](std::string_view step, std::int64_t done, std::int64_t total) {
    line.update(fmt::format("{}: {}", target, step), done, total);
  };
  auto result = make_report(one, options, threads, progress);
  line.clear();
  if (!result.ok()) return std::move(result).error();
  if (command.json != "-") print_out("{}", result_text(*result, options.folder.string()));
  if (command.json.empty()) return {};
  documents::Repro document;
  document.folder = options.folder.string();
  document.node = node;
  document.target = target;
  document.files = result->files;
  document.discloses = result->disclosed;
  document.page = result->page;
  document.script = result->script;
  document.table = result->table;
  return write_json(command.json, json_text(encode(document)) + "\n");
}

Status run_repro(const ReproCommand& command) {
  ThreadPool threads(usable_processors());
  DRIFTSCOPE_TRY(const GraphFile model, load_graph_file(command.model, threads.size()));
  return with_trace(command.trace, command.target,
                    [&](const TraceToVerify& given) { return report_of(command, model, given, threads); });
}

}  // namespace

namespace commands::repro {

static Command declare(CLI::App& app) {
  auto command = std::make_shared<ReproCommand>();
  app.add_option("MODEL", command->model, "The .onnx file")->required();
  app.add_option("TRACE", command->trace,
                 "What the target recorded, with all values (run --trace), or a kept comparison (.drift) and "
                 "--target")
      ->required();
  app.add_option("NODE", command->node, "Which node (default: the first fault)");
  app.add_option("--target", command->target, "host/engine (default: the one that made the trace)");
  app.add_option("-o,--output", command->folder, "The folder to make (default: repro-NODE)");
  app.add_flag("--anonymous", command->anonymous, "Other weights and inputs, as long as the fault stays");
  app.add_option("--runs", command->runs,
                 "At most so many runs for the table over one size or attribute; 0: no table")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_option("--json", command->json, "Write what was made as JSON ('-': standard output)");
  app.add_flag("--quiet", command->quiet, "No progress line");
  add_runner_options(app, command->runner);
  app.footer(
      "A report that the makers of a runtime can open, with nothing of Driftscope in it: a model of one "
      "node,\n"
      "its recorded inputs, the expected result with bounds, a page on the plain runtime of the same "
      "version\n"
      "that turns red, a script for Python, the issue's text, and a table of one size or attribute: for "
      "which\n"
      "values is it right, for which wrong? The node is run alone on the target first, and the page in the\n"
      "browser: a folder is written only if the fault shows there.\n\n"
      "  driftscope run model.onnx --target chrome/ort-webgpu --trace t.safetensors\n"
      "  driftscope repro model.onnx t.safetensors -o report\n\n"
      "For ONNX Runtime, TensorFlow.js and LiteRT.js on all their backends, WebNN, and the shaders of webgpu "
      "and\n"
      "webgl. What does not read ONNX gets the node converted, which is checked.");
  return [command] {
    if (const Status status = run_repro(*command); !status.ok())
      return print_error(status.error()), exit_of(status.error());
    return Exit::ok;
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 22,
             .name = "repro",
             .summary = "Make a report that a runtime's makers can open: one node, a page that turns red.",
             .declare = declare});
}

}  // namespace commands::repro

}  // namespace driftscope
