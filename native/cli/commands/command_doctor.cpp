// driftscope doctor [MODEL] [--targets …] [--run] [--page URL] [--json OUT]
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/base/format.hpp"
#include "core/base/json.hpp"
#include "core/deploy/deploy_check.hpp"
#include "core/report/text_table.hpp"
#include "generated/documents/doctor.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/doctor_environment.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/compare/deployment_runs.hpp"
#include "native/host/deployment.hpp"
#include "native/host/model_file.hpp"
#include "native/http/page_fetch.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

documents::ModelFinding finding_of(const ModelNote& note) {
  const NoteFacts facts = facts_of(note.kind);
  return {.kind = std::string(facts.name),
          .deviation = facts.deviation,
          .accepted = true,
          .runtimes = std::string(facts.runtimes),
          .node = note.node,
          .value = note.value,
          .declared = note.declared,
          .found = note.is,
          .text = note_text(note)};
}

documents::ExaminedModel examined(const std::string& path, const ModelExamination& examination) {
  documents::ExaminedModel model{
      .model = path, .kind = examination.kind, .model_sha256 = examination.sha256, .deviations = 0};
  for (const ModelNote& note : examination.notes) model.findings.push_back(finding_of(note));
  if (examination.error)
    model.findings.push_back({.kind = "unreadable",
                              .deviation = examination.error->kind == ErrorKind::bad_input,
                              .accepted = false,
                              .text = examination.error->message});
  model.deviations = std::ranges::count(model.findings, true, &documents::ModelFinding::deviation);
  return model;
}

std::string examination_text(const documents::ExaminedModel& model) {
  if (model.findings.empty()) return fmt::format("{} ({}): nothing to report\n", model.model, model.kind);
  TextTable table;
  table.column("specification", Align::left);
  table.column("what", Align::left);
  table.column("runtimes", Align::left);
  for (const documents::ModelFinding& finding : model.findings)
    table.row({finding.deviation ? "departs" : "allows", plain_text(finding.text, whole_text),
               finding.accepted ? finding.runtimes : "not read here"});
  std::string count = fmt::format("{} findings, {} of them", model.findings.size(), model.deviations);
  if (model.findings.size() == 1) count = model.deviations == 1 ? "1 finding," : "1 finding, not";
  return fmt::format("{} ({}): {} against the ONNX specification\n\n{}", model.model, model.kind, count,
                     table.text());
}

struct DoctorOptions {
  std::string model;
  std::string page;
  std::vector<std::string> targets;
  std::vector<std::string> sizes;  ///< as with_input_sizes takes them
  bool run = false;
  bool gpus = false;
  std::vector<std::string> inputs;  ///< as read_inputs takes them, without sizes
  std::int64_t memory_runs = 200;
  RunnerOptions runner;
  bool quiet = false;
  std::string json;
  DeployLimits limits;
  FetchLimits fetch;
};

/// What the checks look at, kept while they do.
struct Deployment {
  DeployContext context;
  std::optional<DeployModel> model;
  std::optional<DeployPage> page;
  std::optional<DeployRuns> runs;
};

documents::DeployRuns runs_document(const DeployRuns& runs) {
  documents::DeployRuns document{.input = runs.input};
  for (const DeployRun& run : runs.targets) {
    documents::DeployRun& one = document.targets.emplace_back();
    one.target = run.target;
    if (run.failure) one.failure = run.failure->message;
    if (run.memory) one.memory = std::string(growth_name(growth_of(*run.memory)));
  }
  for (const LayerRange& layer : runs.layers)
    document.layers.push_back({.node = layer.node,
                               .value = layer.value,
                               .largest = layer.range.largest,
                               .nan = layer.range.nan,
                               .infinite = layer.range.infinite});
  return document;
}

documents::Deployment deployment_document(const DeployContext& context,
                                          std::span<const DeployFinding> findings) {
  documents::Deployment document;
  for (const DeployTarget& target : context.targets) document.targets.push_back(target.name);
  if (context.page != nullptr) {
    document.page = context.page->page().url;
    for (const PageFile& file : context.page->files) document.files.push_back(file.url);
  }
  if (context.runs != nullptr) document.runs = runs_document(*context.runs);
  for (const DeployFinding& finding : findings)
    document.findings.push_back({.check = finding.check,
                                 .severity = std::string(severity_name(finding.severity)),
                                 .where = finding.where,
                                 .count = finding.count,
                                 .targets = finding.targets,
                                 .shows = finding.shows,
                                 .why = finding.why,
                                 .fix = finding.fix});
  return document;
}

/// The model's part; nothing where its graph cannot be read, which the examination says.
Status add_model(const DoctorOptions& options, const ModelExamination& examination, Deployment& deployment) {
  DRIFTSCOPE_TRY(deployment.context.targets, deploy_targets(options.targets));
  if (!examination.graph) return {};
  DRIFTSCOPE_TRY(deployment.model, deploy_model(options.model, examination, options.sizes));
  ask_runtimes(options.model, *deployment.model, deployment.context.targets);
  deployment.context.model = &*deployment.model;
  return {};
}

/// Runs the model on its targets; nothing where its graph cannot be read.
Status add_runs(const DoctorOptions& options, Deployment& deployment) {
  if (!options.run || !deployment.model) return {};
  DRIFTSCOPE_TRY(const ModelFile model, load_model_file(options.model, Weights::deferred));
  DeploymentRunRequest request{
      .inputs = options.inputs, .targets = {}, .memory_runs = options.memory_runs, .runner = options.runner};
  request.inputs.insert(request.inputs.end(), options.sizes.begin(), options.sizes.end());
  for (const DeployTarget& target : deployment.context.targets) request.targets.push_back(target.name);
  ProgressLine line(options.quiet);
  DRIFTSCOPE_TRY(
      deployment.runs,
      run_deployment(model, request, [&line](const std::string& step, std::int64_t done, std::int64_t total) {
        line.update(step, done, total);
      }));
  deployment.context.runs = &*deployment.runs;
  return {};
}

/// What the runs were, in front of the findings.
std::string runs_text(const DeployRuns& runs) {
  const auto failed =
      std::ranges::count_if(runs.targets, [](const DeployRun& run) { return run.failure.has_value(); });
  return fmt::format("ran on {} of {} targets with input {}\n\n",
                     runs.targets.size() - static_cast<std::size_t>(failed), runs.targets.size(),
                     plain_text(runs.input, whole_text));
}

Result<Exit> examine(const DoctorOptions& options) {
  Deployment deployment;
  deployment.context.limits = options.limits;
  documents::Doctor document;
  std::string text;
  Exit exit = Exit::ok;
  if (!options.model.empty()) {
    DRIFTSCOPE_TRY(const ModelExamination examination, examine_model_file(options.model));
    DRIFTSCOPE_CHECK(add_model(options, examination, deployment));
    document.model = examined(options.model, examination);
    text = examination_text(*document.model);
    if (examination.error) exit = exit_of(*examination.error);
    DRIFTSCOPE_CHECK(add_runs(options, deployment));
  }
  if (!options.page.empty()) {
    std::vector<std::string> beside_models;
    if (deployment.model)
      for (const ExternalFile& file : deployment.model->external) beside_models.push_back(file.location);
    DRIFTSCOPE_TRY(deployment.page, fetch_page(options.page, beside_models, options.fetch));
    deployment.context.page = &*deployment.page;
  }
  std::vector<DeployFinding> findings;
  if (deployment.context.model != nullptr || deployment.context.page != nullptr) {
    findings = check_deployment(deployment.context);
    document.deployment = deployment_document(deployment.context, findings);
    text += text.empty() ? "" : "\n";
    if (deployment.runs) text += runs_text(*deployment.runs);
    text += deployment_text(findings);
  }
  // Only who names where it shall run is told by the exit code that it does not.
  const bool asked = !options.targets.empty() || !options.page.empty();
  if (exit == Exit::ok && asked && !findings.empty() && findings.front().severity == DeploySeverity::error)
    exit = Exit::fault;
  if (options.json != "-") print_out("{}", text);
  if (!options.json.empty())
    DRIFTSCOPE_CHECK(write_json(options.json, json_text(encode(document), 1) + "\n"));
  return exit;
}

Exit run_doctor(const DoctorOptions& options) {
  if (options.model.empty() && options.page.empty())
    return show_environment(
        {.gpus = options.gpus, .json = options.json, .quiet = options.quiet, .runner = options.runner});
  const auto exit = examine(options);
  if (!exit.ok()) return print_error(exit.error()), exit_of(exit.error());
  return *exit;
}

}  // namespace

namespace commands::doctor {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<DoctorOptions>();
  const auto model = app.add_option(
      "MODEL", options->model,
      "Look at this model instead: where it departs from the ONNX specification, which operators have no "
      "reference here, what runtimes make of it, and what keeps it from working where it is deployed");
  app.add_option(
         "--targets", options->targets,
         "Where the model shall run: host/engine[:option=value,…], separated by commas; every node is "
         "asked for (default: this project's engines in Chrome)")
      ->expected(1)
      ->take_all()
      ->needs(model);
  add_size_options(app, options->sizes);
  const auto run = app.add_flag(
      "--run", options->run,
      "Also run the model on the targets: whether it runs and answers with numbers, which layers make NaN or "
      "infinity or come near the limit of float16 (seen on pc/strict), and whether memory grows");
  run->needs(model);
  app.add_option("--input", options->inputs,
                 "With --run: what it runs on, as of 'driftscope run' (default: seed:42)")
      ->expected(1)
      ->take_all()
      ->needs(run);
  app.add_option("--memory-runs", options->memory_runs,
                 "With --run: over at most so many runs memory is watched; 0: it is not")
      ->check(CLI::Range(0, 100000))
      ->needs(run)
      ->capture_default_str();
  const auto gpus =
      app.add_flag(
             "--gpus", options->gpus,
             "Without a model: also run a node on each GPU engine, here and in every browser, and name the "
             "device that it got")
          ->excludes(model);
  app.add_flag("--quiet", options->quiet, "No progress line");
  add_runner_options(app, options->runner);
  app.add_option(
         "--page", options->page,
         "URL (http or https) of the page that runs it: its headers and those of the scripts, .wasm and "
         "models of its own origin that it names; nothing is executed, nothing else is fetched")
      ->excludes(gpus);
  app.add_option(
         "--script-levels", options->fetch.script_levels,
         "How deep scripts are looked through for names: 1: those of the page, 2: also those that these name")
      ->check(CLI::Range(0, 8))
      ->capture_default_str();
  app.add_option("--mbit", options->limits.megabits_per_second, "Users' download rate in Mbit/s")
      ->check(CLI::Range(0.001, 1e6))
      ->capture_default_str();
  app.add_option("--max-start", options->limits.start_seconds, "Longest time to download, in seconds")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--json", options->json, "Write the findings as JSON ('-': standard output)");
  app.footer(
      "Exit code 3 when something is missing that runs need; each line says how to get it. With MODEL, 2 "
      "when\n"
      "it cannot be read: what departs from the specification and runs all the same is no error. With "
      "--targets\n"
      "or --page, 1 when something does not work there. Findings say what shows, why, and the fix "
      "(docs/doctor.md):\n"
      "  driftscope doctor model.onnx --targets chrome/webgpu,pc/ort --dim batch=1\n"
      "  driftscope doctor model.onnx --targets chrome/fast,firefox/fast --run --input photo.png\n"
      "  driftscope doctor --page https://example.org/demo/");
  return [options] { return run_doctor(*options); };
}

void add_to(CommandTable& table) {
  table.add({.order = 90,
             .name = "doctor",
             .summary = "Show what this machine can run; or what is odd about a model, and what hinders its "
                        "deployment.",
             .declare = declare});
}

}  // namespace commands::doctor

}  // namespace driftscope
