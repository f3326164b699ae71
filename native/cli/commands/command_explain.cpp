// driftscope explain MODEL TRACE [NODE] [--json OUT]; TRACE may be a kept comparison, which may be the MODEL
// as well
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/base/json_writer.hpp"
#include "core/base/sort_stably.hpp"
#include "core/platform/platform.hpp"
#include "core/report/explanation_text.hpp"
#include "core/report/float16_table.hpp"
#include "core/report/tables.hpp"
#include "core/trace/run_fact.hpp"
#include "core/verify/name_match.hpp"
#include "core/verify/type_match.hpp"
#include "core/verify/variant.hpp"
#include "generated/documents/explain.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/cli/verify_traces.hpp"
#include "native/host/causal_test.hpp"
#include "native/host/targets.hpp"

namespace driftscope {
namespace {

struct ExplainOptions {
  std::string model;
  std::string trace;
  std::string node;
  std::string json;
  int threads = 0;
  bool matters = false;
  std::string target;
  RunnerOptions runner;
  bool float16 = false;
  bool list = false;
  bool quiet = false;
};

/// The hypotheses, the simpler ones first.
std::string catalogue_text() {
  std::vector<const Variant*> variants;
  for (const Variant& variant : variant_table().all())
    if (variant.kind == VariantKind::faulty) variants.push_back(&variant);
  sort_stably(variants, [](const Variant* variant) { return variant->order; });
  std::string text;
  for (const Variant* const one : variants)
    text +=
        fmt::format("{:<38} {} ({})\n", fmt::format("{}.{}", one->family, one->id), one->name,
                    one->any_operator ? "any operator" : fmt::format("{}", fmt::join(one->operators, ", ")));
  return text;
}

documents::Explain document_of(const Verification& verification, const Trace& about) {
  documents::Explain document;
  document.model_sha256 = verification.model_sha256;
  document.target = verification.target;
  document.device_errors = device_errors_of_run(about);
  for (const LayerVerdict& layer : verification.layers)
    if (layer.explanation) document.layers.push_back(*layer.explanation);
  document.matters = verification.matters;
  return document;
}

/// Fills `matters` of all explanations.
Status test_causes(const ExplainOptions& options, const TraceToVerify& given, std::optional<ModelFile>& model,
                   ThreadPool& threads, ProgressLine& line, Verification& verification) {
  if (std::ranges::none_of(verification.layers,
                           [](const LayerVerdict& one) { return one.explanation.has_value(); }))
    return {};
  if (!model) {
    DRIFTSCOPE_TRY(OpenedModel opened, open_model(options.model));
    model = std::move(opened.model);
  }
  DRIFTSCOPE_TRY(const Trace trace, whole_trace(model->graph, given));
  const std::string text = options.target.empty() ? trace.target : options.target;
  if (text.empty() || text.starts_with("file/"))
    return bad_input(
        fmt::format("--matters: {} does not say which target made it; name it: --target", given.name));
  DRIFTSCOPE_TRY(const Target target, read_target(text));
  TargetRunner runner(options.runner);
  CausalTester tester(*model, trace, target, runner, threads,
                      [&](std::string_view step, std::int64_t done, std::int64_t total) {
                        line.update(fmt::format("{}: {}", text, step), done, total);
                      });
  auto tested = tester.test(verification);
  if (!tested.ok()) return in_context(std::move(tested).error(), "--matters");
  return {};
}

Result<std::vector<Float16Range>> ranges_of(const GraphFile& model, const TraceToVerify& given,
                                            ThreadPool& threads, ProgressLine& line) {
  auto view = TraceView::open(given.bytes);
  if (!view.ok()) return in_context(std::move(view).error(), given.name);
  rename_values(match_names(model.graph, *view), *view);
  convert_types(match_types(model.graph, *view), *view);
  return float16_ranges(model.graph, *view, threads, [&](std::int64_t done, std::int64_t total) {
    line.update("ranges of " + given.name, done, total);
    given.release();
    return true;
  });
}

Exit run_explain(const ExplainOptions& options) {
  if (options.list) return print_out("{}", catalogue_text()), Exit::ok;
  ThreadPool threads(options.threads > 0 ? options.threads : usable_processors());
  std::vector<std::string> traces;
  if (!options.trace.empty()) traces.push_back(options.trace);
  const auto named = NamedTraces::open("explain", options.model, traces, threads.size());
  if (!named.ok()) return print_error(named.error()), exit_of(named.error());
  Exit exit = Exit::ok;
  const auto fail = [&exit](const Error& error) {
    print_error(error);
    if (exit != Exit::fault) exit = exit_of(error);
  };
  std::optional<ModelFile> whole;  // with its bytes, for runs
  std::vector<documents::Explain> explained;
  const auto each = [&](const TraceToVerify& trace) {
    ProgressLine line(options.quiet);
    VerifyTraceOptions how;
    if (!options.node.empty()) how.node = options.node;
    auto verified = verify_trace(named->model(), trace, threads, line, how);
    line.clear();
    if (!verified.ok()) return fail(verified.error());
    Verification& verification = verified->verification;
    if (options.matters) {
      const Status tested = test_causes(options, trace, whole, threads, line, verification);
      line.clear();
      if (!tested.ok()) fail(tested.error());
    }
    if (options.json != "-")
      print_out("{}{}", explanations_text(verification, trace.name),
                notes_text(device_errors_of_run(verified->about)));
    if (verification.verdict == Verdict::fault) exit = Exit::fault;
    explained.push_back(document_of(verification, verified->about));
    if (!options.float16) return;
    auto ranges = ranges_of(named->model(), trace, threads, line);
    line.clear();
    if (!ranges.ok()) return fail(ranges.error());
    if (options.json != "-") print_out("\n{}", float16_table(*ranges));
    explained.back().float16 = *std::move(ranges);
  };
  named->for_each(each, fail);
  if (options.json.empty() || explained.empty()) return exit;
  JsonWriter all;
  if (explained.size() > 1) all.begin_array();
  for (const documents::Explain& one : explained) all.value(encode(one));
  if (explained.size() > 1) all.end();
  const Status status = write_json(options.json, all.take() + "\n");
  if (!status.ok()) return print_error(status.error()), exit_of(status.error());
  return exit;
}

}  // namespace

namespace commands::explain {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<ExplainOptions>();
  app.add_option("MODEL", options->model, "The .onnx file, or a kept comparison (.drift) with its model");
  app.add_option(
      "TRACE", options->trace,
      "A safetensors file with tensors named after the model's values, or a kept comparison, all its "
      "targets; of MODEL itself, if that is one and nothing is named");
  app.add_option("NODE", options->node, "Only this node (default: every one that is suspect or a fault)");
  app.add_option("--json", options->json, "Write the explanations as JSON ('-': standard output)");
  app.add_option("--threads", options->threads, "Threads of the reference (default: all processors)")
      ->check(CLI::Range(1, 1024));
  app.add_flag(
      "--matters", options->matters,
      "Run the target again with the right tensor in place of each wrong one: is the answer right then?");
  app.add_option("--target", options->target, "For --matters (default: the one that made the trace)");
  add_runner_options(app, options->runner);
  app.add_flag(
      "--float16", options->float16,
      "Also a table of all layers beside the range of float16: the largest number and partial sum, the "
      "headroom, what becomes 0, overflow that later layers hide");
  app.add_flag("--list", options->list, "Print the catalogue of hypotheses, and end");
  app.add_flag("--quiet", options->quiet, "No progress line");
  app.footer(
      "Faulty variants of the operator (a bias left out, SAME_UPPER for SAME_LOWER, inputs rounded to\n"
      "float16, the last block not written, …) are computed on the layer's own recorded inputs, with "
      "bounds.\n"
      "One is named as the cause only if every element is then within its budget, no simpler one does the\n"
      "same, and the chance that this happens by accident is below one in a million. Otherwise: how far the\n"
      "best ones get, and where the wrong elements are. Exit code 1: some layer is a fault.\n\n"
      "  driftscope run model.onnx --target chrome/ort-webgpu --trace t.safetensors\n"
      "  driftscope explain model.onnx t.safetensors conv3");
  return [options] { return run_explain(*options); };
}

void add_to(CommandTable& table) {
  table.add({.order = 21,
             .name = "explain",
             .summary = "Why is a layer wrong: the cause of a fault, or what is known of it.",
             .declare = declare});
}

}  // namespace commands::explain

}  // namespace driftscope
