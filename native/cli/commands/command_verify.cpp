// driftscope verify MODEL TRACE… [--json OUT]; TRACE may be a kept comparison, which may be the MODEL as well
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <functional>

#include "core/checks/fail_on.hpp"
#include "core/platform/platform.hpp"
#include "core/report/tables.hpp"
#include "core/results/verify_json.hpp"
#include "core/verify/answer_sensitivity.hpp"
#include "core/verify/engine_models.hpp"
#include "core/verify/external_budgets.hpp"
#include "core/verify/name_match.hpp"
#include "core/verify/type_match.hpp"
#include "core/verify/verify.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/layer_options.hpp"
#include "native/cli/commands/sensitivity_option.hpp"
#include "native/host/kept_file.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

struct VerifyOptions {
  std::string model;
  std::vector<std::string> traces;
  std::string json;
  std::vector<std::string> fail_on = {"fault"};
  LayerChoice layers;
  std::string budgets;
  SensitivityWanted sensitivity = SensitivityWanted::when_cheap;
  int threads = 0;
  bool quiet = false;
};

/// The conditions that apply to a single trace.
Result<FailOn> verify_conditions(const std::vector<std::string>& texts) {
  DRIFTSCOPE_TRY(const FailOn conditions, parse_fail_on(texts));
  if (conditions.top1 || conditions.bits || conditions.growing || conditions.slower)
    return bad_input(fmt::format(
        "--fail-on {}: verify looks at one trace; expected fault, suspect, unjudged, nonfinite or "
        "unrepeatable; "
        "'driftscope compare' has the others",
        fail_on_text(conditions)));
  return conditions;
}

/// A verdict, and the assumptions made for it.
struct VerifiedFile {
  Verification verification;
  Trace about;  // nodes and times, no tensors
};

/// A trace file, alone or in a kept comparison.
struct TraceToVerify {
  std::string name;
  std::span<const std::byte> bytes;
  std::function<void()> release = [] {};  ///< gives back the memory of what was read
};

/// Calls each(trace) for a trace file, or for every target of a kept comparison.
template <class Each>
Status for_each_trace(const KeptFile& kept, const Each& each) {
  const ComparisonView& view = kept.comparison().view();
  bool any = false;
  for (std::size_t i = 0; i <= view.right.size(); ++i) {
    const auto bytes = kept.comparison().trace(i);
    const std::string& target = i == 0 ? view.left.target : view.right[i - 1].target;
    if (bytes.empty()) continue;
    any = true;
    each(TraceToVerify{kept.path().string() + ", " + target, bytes, [&kept] { kept.release(); }});
  }
  if (!any) return bad_input(kept.path().string() + ": no target of this comparison has a trace");
  return {};
}

template <class Each>
Status for_each_trace(const std::string& path, const std::optional<KeptFile>& model, const Each& each) {
  if (model && path == model->path()) return for_each_trace(*model, each);
  if (is_kept_file(path)) {
    DRIFTSCOPE_TRY(const KeptFile kept, KeptFile::open(path));
    return for_each_trace(kept, each);
  }
  DRIFTSCOPE_TRY(const MappedFile file, MappedFile::open(path));
  each(TraceToVerify{path, file.bytes(), [&file] { file.release(); }});
  return {};
}

/// The graph of an .onnx file, or of the model in a kept comparison.
Result<GraphFile> open_graph(const std::string& path, const std::optional<KeptFile>& kept, int threads) {
  if (!kept) return load_graph_file(path, threads);
  DRIFTSCOPE_TRY(ModelFile model, kept->model(Weights::deferred));
  return GraphFile{{}, ModelHash(model.sha256), std::move(model.graph)};
}

/// The gradient of the model at a trace's input, with what it predicts for the engine that made the trace.
struct TraceSensitivity {
  AnswerSensitivity of;
  PredictedLayers predicted;
};

Result<TraceSensitivity> sensitivity_of(const Graph& graph, const TraceView& trace, SensitivityWanted wanted,
                                        ThreadPool& threads, const VerifyProgress& progress) {
  DRIFTSCOPE_TRY(AnswerSensitivity prepared,
                 AnswerSensitivity::prepare(graph, trace, wanted, threads, progress));
  DRIFTSCOPE_TRY(PredictedLayers predicted,
                 prepared.predict(error_model_of(trace.about()), threads, progress));
  return TraceSensitivity{std::move(prepared), std::move(predicted)};
}

/// `budgets`: null, or those to show beside the verdicts.
Result<VerifiedFile> verify_trace(const GraphFile& model, const TraceToVerify& given,
                                  const BudgetSuite* budgets, SensitivityWanted wanted, ThreadPool& threads,
                                  ProgressLine& line) {
  auto trace = TraceView::open(given.bytes);
  if (!trace.ok()) return in_context(std::move(trace).error(), given.name);
  const NameMatch match = match_names(model.graph, *trace);
  rename_values(match, *trace);
  const auto converted = match_types(model.graph, *trace);
  convert_types(converted, *trace);
  // A trace of another model is rejected as soon as the model's hash is known.
  const auto progress = [&](std::int64_t done, std::int64_t total) {
    line.update("verifying " + given.name, done, total);
    given.release();  // a layer reads its own values, and few of another's
    return !model.sha256.known() || expect_model(model.sha256.get(), trace->about()).ok();
  };
  std::optional<Result<TraceSensitivity>> sensitivity;
  if (wanted != SensitivityWanted::never)
    sensitivity = sensitivity_of(model.graph, *trace, wanted, threads, progress);
  const bool sensitive = sensitivity && sensitivity->ok();
  auto verification =
      verify(model.graph, "", *trace, threads, progress, sensitive ? &(*sensitivity)->of : nullptr);
  if (auto same = expect_model(model.sha256.get(), trace->about()); !same.ok())
    return in_context(std::move(same).error(), given.name);
  if (!verification.ok()) return in_context(std::move(verification).error(), given.name);
  verification->model_sha256 = model.sha256.get();
  if (sensitive)
    (*sensitivity)->of.conclude((*sensitivity)->predicted, *trace, *verification);
  else if (sensitivity)
    verification->answer.emplace().left_out = sensitivity->error().message;
  if (budgets != nullptr) apply_budgets(*verification, *budgets, model.graph, *trace);
  verification->names = name_match_text(match);
  if (const std::string types = type_match_text(converted); !types.empty())
    verification->names += (verification->names.empty() ? "" : "; ") + types;
  return VerifiedFile{*std::move(verification), trace->about()};
}

Exit run_verify(const VerifyOptions& options) {
  const auto conditions = verify_conditions(options.fail_on);
  if (!conditions.ok()) return print_error(conditions.error()), exit_of(conditions.error());
  const BudgetSuite* budgets = nullptr;
  if (!options.budgets.empty()) {
    const auto found = find_budget_suite(options.budgets);
    if (!found.ok()) return print_error(found.error()), exit_of(found.error());
    budgets = *found;
  }
  ThreadPool threads(options.threads > 0 ? options.threads : usable_processors());
  std::optional<KeptFile> kept;
  if (is_kept_file(options.model)) {
    auto opened = KeptFile::open(options.model);
    if (!opened.ok()) return print_error(opened.error()), exit_of(opened.error());
    kept = *std::move(opened);
  }
  std::vector<std::string> paths = options.traces;
  if (paths.empty() && kept) paths = {options.model};
  if (paths.empty()) {
    const Error error = bad_input("verify: TRACE is missing: the recorded values to judge");
    return print_error(error), exit_of(error);
  }
  const auto model = open_graph(options.model, kept, threads.size());
  if (!model.ok()) return print_error(model.error()), exit_of(model.error());
  Exit exit = Exit::ok;
  const auto fail = [&exit](const Error& error) {
    print_error(error);
    if (exit != Exit::fault) exit = exit_of(error);
  };
  std::vector<Verification> judged;                                // for --json
  std::string notes = notes_text(note_lines(model->graph.notes));  // once, above the first trace
  const auto judge = [&](const TraceToVerify& trace) {
    ProgressLine line(options.quiet);
    auto verified = verify_trace(*model, trace, budgets, options.sensitivity, threads, line);
    line.clear();
    if (!verified.ok()) return fail(verified.error());
    const Verification& verification = verified->verification;
    if (options.json != "-")
      print_out("{}{}{}", std::exchange(notes, ""),
                verify_table(verification, verified->about, trace.name, options.layers),
                verification.names.empty() ? "" : verification.names + "\n");
    const bool unrepeatable = verification.repeats && !verification.repeats->check.agree();
    const bool nonfinite = !verification.nonfinite.empty();
    if (conditions->counts(verification.verdict) || (conditions->unrepeatable && unrepeatable) ||
        (conditions->nonfinite && nonfinite))
      exit = Exit::fault;
    if (conditions->unrepeatable && !verification.repeats) {
      print_error(bad_input(trace.name +
                            ": --fail-on unrepeatable: the trace has no repeated runs; record it with "
                            "'driftscope run --repeat-check N'"));
      exit = Exit::fault;
    }
    if (options.json.empty()) return;
    judged.push_back(std::move(verified->verification));
    judged.back().notes = note_lines(model->graph.notes);
  };
  for (const std::string& path : paths)
    if (const Status read = for_each_trace(path, kept, judge); !read.ok()) fail(read.error());
  if (!judged.empty()) {
    const bool list = paths.size() > 1 || judged.size() > 1;
    JsonWriter all;
    if (list) all.begin_array();
    for (const Verification& one : judged) write_verification(all, one);
    if (list) all.end();
    const Status status = write_json(options.json, all.take() + "\n");
    if (!status.ok()) return print_error(status.error()), exit_of(status.error());
  }
  return exit;
}

}  // namespace

namespace commands::verify {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<VerifyOptions>();
  app.add_option("MODEL", options->model, "The .onnx file, or a kept comparison (.drift) with its model")
      ->required();
  app.add_option(
      "TRACE", options->traces,
      "Safetensors files with tensors named after the model's values; nothing else needed. Or kept "
      "comparisons, all their targets; of MODEL itself, if that is one and nothing is named");
  app.add_option("--json", options->json, "Write the verdicts as JSON ('-': standard output)");
  app.add_option(
         "--fail-on", options->fail_on,
         "What makes the exit code 1, several separated by commas: fault, suspect (faults with it), unjudged "
         "(layers that could not be judged; suspects and faults with it), nonfinite (NaN or infinity in an "
         "output of the model), unrepeatable (a later run has other bits: of traces made with 'run "
         "--repeat-check'). Default: fault")
      ->expected(1)
      ->take_all();
  add_sensitivity_option(app, options->sensitivity);
  add_layer_option(app, options->layers);
  app.add_option("--budgets", options->budgets,
                 "Show third-party error budgets beside the verdicts, which they do not change: wpt (the web "
                 "platform tests of WebNN)");
  app.add_option("--threads", options->threads, "Threads of the reference (default: all processors)")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--quiet", options->quiet, "No progress line");
  app.footer(
      "Each layer is computed again in double from the inputs that the trace itself recorded, and its\n"
      "error is compared with what float32 rounding can explain. A layer whose budget is\n"
      "inconclusive (infinite, or wider than the tensor's own spread) is unjudged: shown and counted, never\n"
      "a pass. Exit code 1: some layer is a fault, or what --fail-on names.");
  return [options] { return run_verify(*options); };
}

void add_to(CommandTable& table) {
  table.add({.order = 20,
             .name = "verify",
             .summary = "Judge traces made anywhere: is each layer right, rounding, or a fault?",
             .declare = declare});
}

}  // namespace commands::verify

}  // namespace driftscope
