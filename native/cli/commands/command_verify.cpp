// driftscope verify MODEL TRACE… [--json OUT]; TRACE may be a kept comparison, which may be the MODEL as well
// driftscope verify MODEL TRACE… --out DIR [--jobs N | --cluster ADDRESS]: many, a process for each
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>

#include "core/checks/fail_on.hpp"
#include "core/matrix/matrix_results.hpp"
#include "core/platform/platform.hpp"
#include "core/report/tables.hpp"
#include "core/results/verify_json.hpp"
#include "core/trace/run_fact.hpp"
#include "core/verify/external_budgets.hpp"
#include "core/verify/overflow.hpp"
#include "native/cli/commands/batch_options.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/layer_options.hpp"
#include "native/cli/commands/sensitivity_option.hpp"
#include "native/cli/verify_batch.hpp"
#include "native/cli/verify_traces.hpp"

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
  BatchOptions batch;  ///< many traces, each in a process of its own, where a folder for results is given
};

/// The conditions that apply to a single trace.
Result<FailOn> verify_conditions(const std::vector<std::string>& texts) {
  DRIFTSCOPE_TRY(const FailOn conditions, parse_fail_on(texts));
  if (conditions.top1 || conditions.bits || conditions.growing || conditions.slower)
    return bad_input(fmt::format(
        "--fail-on {}: verify looks at one trace; expected fault, suspect, unjudged, nonfinite, overflow or "
        "unrepeatable; "
        "'driftscope compare' has the others",
        fail_on_text(conditions)));
  return conditions;
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
  const auto named = NamedTraces::open("verify", options.model, options.traces, threads.size());
  if (!named.ok()) return print_error(named.error()), exit_of(named.error());
  const GraphFile& model = named->model();
  Exit exit = Exit::ok;
  const auto fail = [&exit](const Error& error) {
    print_error(error);
    if (exit != Exit::fault) exit = exit_of(error);
  };
  std::vector<Verification> judged;                               // for --json
  std::string notes = notes_text(note_lines(model.graph.notes));  // once, above the first trace
  const auto judge = [&](const TraceToVerify& trace) {
    ProgressLine line(options.quiet);
    auto verified =
        verify_trace(model, trace, threads, line, {.budgets = budgets, .sensitivity = options.sensitivity});
    line.clear();
    if (!verified.ok()) return fail(verified.error());
    const Verification& verification = verified->verification;
    if (options.json != "-")
      print_out("{}{}{}{}", std::exchange(notes, ""),
                verify_table(verification, verified->about, trace.name, options.layers),
                notes_text(device_errors_of_run(verified->about)),
                verification.names.empty() ? "" : verification.names + "\n");
    const bool unrepeatable = verification.repeats && !verification.repeats->check.agree();
    const bool nonfinite = !verification.nonfinite.empty();
    const bool overflow = conditions->overflow && std::ranges::any_of(verification.overflows, overflows);
    if (overflow || conditions->counts(verification.verdict) || (conditions->unrepeatable && unrepeatable) ||
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
    judged.back().notes = note_lines(model.graph.notes);
    std::ranges::move(device_errors_of_run(verified->about), std::back_inserter(judged.back().notes));
  };
  named->for_each(judge, fail);
  if (!judged.empty()) {
    const bool list = named->several() || judged.size() > 1;
    JsonWriter all;
    if (list) all.begin_array();
    for (const Verification& one : judged) write_verification(all, one);
    if (list) all.end();
    const Status status = write_json(options.json, all.take() + "\n");
    if (!status.ok()) return print_error(status.error()), exit_of(status.error());
  }
  return exit;
}

/// Options of verify for each trace of a batch.
std::vector<std::string> options_of_each(const VerifyOptions& options) {
  std::vector<std::string> each = {"--fail-on", fmt::format("{}", fmt::join(options.fail_on, ","))};
  if (!options.budgets.empty()) each.insert(each.end(), {"--budgets", options.budgets});
  return each;
}

Result<Exit> run_verify_batch(const VerifyOptions& options) {
  if (!options.json.empty())
    return bad_input("--json: with --out each verification is a file in its folder results; leave it out");
  if (const auto conditions = verify_conditions(options.fail_on); !conditions.ok()) return conditions.error();
  ProgressLine line(options.quiet);
  DRIFTSCOPE_TRY(VerifyBatch batch, open_batch(options.model, options.traces, options_of_each(options),
                                               [&](const std::string& step, std::int64_t done,
                                                   std::int64_t total) { line.update(step, done, total); }));
  batch.results = options.batch.results();
  if (options.batch.cluster.empty())
    batch.others = {"--threads", std::to_string(std::max(1, usable_processors() / options.batch.jobs))};
  DRIFTSCOPE_TRY(const auto store, open_batch_store(options.batch, "verify", {}));
  DRIFTSCOPE_TRY(const BatchEnd end, run_batch(batch_campaign(batch), *store, options.batch, line));
  DRIFTSCOPE_TRY(const documents::MatrixResults results, results_of(batch, *store));
  print_out("{}{}", verified_text(results), batch_end_text(options.batch, end));
  if (end == BatchEnd::interrupted) return Exit::interrupted;
  if (std::ranges::any_of(results.cells, &documents::MatrixCell::checked)) return Exit::fault;
  return std::ranges::all_of(results.cells, cell_ran) ? Exit::ok : Exit::bad_input;
}

/// What is only for batches, or nothing.
std::string batch_option_without_out(const CLI::App& app) {
  for (const char* const name : {"--jobs", "--cluster", "--store", "--budget", "--retry-failed"})
    if (app.count(name) > 0) return name;
  return {};
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
         "output of the model), overflow (a layer makes them of finite numbers, also where a later one hides "
         "it), unrepeatable (a later run has other bits: of traces made with 'run "
         "--repeat-check'). Default: fault")
      ->expected(1)
      ->take_all();
  add_sensitivity_option(app, options->sensitivity);
  add_layer_option(app, options->layers);
  app.add_option(
      "-o,--out", options->batch.out,
      "Folder for the verifications of many traces, each made by a process of its own: a line for each, "
      "begun or gone on with");
  add_batch_options(app, options->batch, "Traces");
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
      "a pass. Exit code 1: some layer is a fault, or what --fail-on names.\n\n"
      "Many traces, one kept result each; the same command goes on, whatever ended it:\n"
      "  driftscope verify model.onnx traces/*.safetensors --out verified --jobs 4\n"
      "  driftscope verify model.onnx traces/*.safetensors --out verified --cluster tcp://10.0.0.5:8786");
  return [options, &app] {
    if (options->batch.out.empty()) {
      const std::string option = batch_option_without_out(app);
      if (option.empty()) return run_verify(*options);
      const Error error =
          bad_input(option + ": it is for many traces, whose results need a folder: --out DIR");
      return print_error(error), exit_of(error);
    }
    const auto exit = run_verify_batch(*options);
    if (exit.ok()) return *exit;
    print_error(exit.error());
    return exit_of(exit.error());
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 20,
             .name = "verify",
             .summary = "Judge traces made anywhere: is each layer right, rounding, or a fault?",
             .declare = declare});
}

}  // namespace commands::verify

}  // namespace driftscope
