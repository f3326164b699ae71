// driftscope doctor [MODEL] [--targets …] [--page URL] [--json OUT]
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "core/base/format.hpp"
#include "core/base/json.hpp"
#include "core/deploy/deploy_check.hpp"
#include "core/platform/platform.hpp"
#include "core/report/text_table.hpp"
#include "core/runtime/engine.hpp"
#include "generated/documents/doctor.hpp"
#include "native/browser/browser_features.hpp"
#include "native/browser/browsers.hpp"
#include "native/browser/chromium_sandbox.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/cli/gui_program.hpp"
#include "native/host/deployment.hpp"
#include "native/host/host.hpp"
#include "native/host/model_file.hpp"
#include "native/http/page_fetch.hpp"
#include "native/os/files.hpp"
#include "native/platform/site.hpp"

namespace driftscope {
namespace {

/// One capability that this machine may have.
struct Finding {
  std::string what;
  bool ok = false;
  std::string detail;  ///< version, or why it is missing and how to get it
  bool needed = true;  ///< for runs; other findings are reported but do not count as missing
};

/// Browsers with what only some engines need: not needed for the others' runs.
void probe_features(std::vector<Finding>& findings) {
  std::set<std::string> names;
  for (const auto& engine : engines()) names.insert(engine->info().browser_feature);
  for (const std::string& name : names) {
    const BrowserFeature* feature = find_browser_feature(name);
    if (!feature) continue;
    const auto found = probe_host(feature->host, name);
    findings.push_back(
        {feature->host + " with " + feature->title, found.ok(),
         found.ok() ? fmt::format("{} ({})", found->version, found->program.string()) : found.error().message,
         false});
  }
}

std::vector<Finding> probe_environment() {
  std::vector<Finding> findings;
  findings.push_back({"pc", true,
                      fmt::format("{}, {} processor{}", platform_name(), usable_processors(),
                                  usable_processors() == 1 ? "" : "s")});
  for (const auto& engine : engines()) {
    if (!runs_on(engine->info(), "pc")) continue;
    const Availability availability = engine->available();
    findings.push_back({"pc/" + engine->name(), availability.ok,
                        availability.ok ? engine->info().summary : availability.reason});
  }
  const auto site = find_site();
  findings.push_back({"page", site.ok(), site.ok() ? site->string() : site.error().message});
  for (const auto& host : host_table().all()) {
    const HostFacts& facts = host->facts();
    if (!facts.runs || facts.name == "pc") continue;  // which has its lines
    const auto found = host->version();
    findings.push_back(
        {facts.name, found.ok(), found.ok() ? *found : found.error().message, !facts.optional});
  }
  findings.push_back({"chrome's sandbox", why_no_sandbox().empty(),
                      why_no_sandbox().empty() ? "user namespaces" : why_no_sandbox(), false});
  probe_features(findings);
  const Status gui = gui_can_open();
  findings.push_back({"gui", gui.ok(), gui.ok() ? "a window" : gui.error().message, false});
  return findings;
}

Exit run_doctor(const std::string& json) {
  const auto findings = probe_environment();
  bool all = true;
  TextTable table;
  table.column("here", Align::left);
  table.column("what", Align::left);
  table.column("detail", Align::left);
  documents::Doctor document;
  for (const Finding& finding : findings) {
    all = all && (finding.ok || !finding.needed);
    table.row({finding.ok ? "yes" : "no", finding.what, finding.detail});
    document.findings.push_back({finding.what, finding.ok, finding.detail});
  }
  if (json != "-") print_out("{}", table.text());
  if (!json.empty()) {
    const Status status = write_json(json, json_text(encode(document), 1) + "\n");
    if (!status.ok()) return print_error(status.error()), exit_of(status.error());
  }
  return all ? Exit::ok : Exit::missing;
}

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
  std::string json;
  DeployLimits limits;
  FetchLimits fetch;
};

/// What the checks look at, kept while they do.
struct Deployment {
  DeployContext context;
  std::optional<DeployModel> model;
  std::optional<DeployPage> page;
};

documents::Deployment deployment_document(const DeployContext& context,
                                          std::span<const DeployFinding> findings) {
  documents::Deployment document;
  for (const DeployTarget& target : context.targets) document.targets.push_back(target.name);
  if (context.page != nullptr) {
    document.page = context.page->page().url;
    for (const PageFile& file : context.page->files) document.files.push_back(file.url);
  }
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
    text += (text.empty() ? "" : "\n") + deployment_text(findings);
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
  if (options.model.empty() && options.page.empty()) return run_doctor(options.json);
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
  app.add_option(
      "--page", options->page,
      "URL (http or https) of the page that runs it: its headers and those of the scripts, .wasm and "
      "models of its own origin that it names; nothing is executed, nothing else is fetched");
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
