#include "native/cli/commands/check_options.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>

#include "core/checks/annotations.hpp"
#include "core/checks/junit.hpp"
#include "core/checks/sarif.hpp"
#include "native/cli/console.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

bool in_github_actions() {
  const char* value = std::getenv("GITHUB_ACTIONS");
  return value != nullptr && std::string_view(value) == "true";
}

/// GitHub collects the text that steps append to this file. A failure to write it is reported, but is not an
/// error.
void append_summary(const std::string& text) {
  const char* path = std::getenv("GITHUB_STEP_SUMMARY");
  if (path == nullptr || *path == '\0') return;
  if (const Status appended = append_to_file(path, text); !appended.ok())
    print_error(in_context(appended.error(), "GITHUB_STEP_SUMMARY"));
}

}  // namespace

void add_check_options(CLI::App& app, CheckOptions& options, const std::string& usual) {
  app.add_option(
         "--fail-on", options.fail_on,
         "What makes the exit code 1, several separated by commas: fault, suspect (faults with it), "
         "unjudged (layers that could not be judged; suspects and faults with it), nonfinite "
         "(NaN or infinity in an output of the model), overflow (a layer makes them of finite numbers, "
         "also where a later one hides it), top1 (another best class), bits (any differing bit), "
         "unrepeatable (a later run has other bits; with "
         "--repeat-check by default), growing (memory does, from run to run; with --memory-runs by "
         "default), slower:20% (beyond the noise). Conditions that are not listed are shown and do "
         "not count. Default: " +
             usual)
      ->expected(1)
      ->take_all();
  app.add_option("--junit", options.junit,
                 "Write the checks as JUnit XML: a suite per target, a case per layer");
  app.add_option(
      "--sarif", options.sarif,
      "Write what failed, and what does not count, as SARIF 2.1.0: what code hosts show beside a change");
  app.add_option("--summary", options.summary,
                 "Write headline, targets and failures as Markdown: a comment for a pull request");
}

Result<FailOn> conditions_of(const CheckOptions& options, const std::string& usual) {
  if (!options.fail_on.empty()) return parse_fail_on(options.fail_on);
  const std::vector<std::string> texts = {usual};
  return parse_fail_on(texts);
}

Status report_checks(const CheckReport& checks, const ComparisonView& view, const CheckOptions& options,
                     const std::string& model_path, bool print) {
  std::FILE* out = options.json == "-" ? stderr : stdout;
  if (print || checks.failed()) print_text(out, checks_text(checks));
  if (in_github_actions()) {
    print_annotations(out, github_annotations(checks, model_path));
    append_summary(github_summary(checks, view));
  }
  if (!options.junit.empty()) DRIFTSCOPE_CHECK(write_file(options.junit, junit_xml(checks, view)));
  if (!options.sarif.empty())
    DRIFTSCOPE_CHECK(write_file(options.sarif, sarif_json(checks, view, model_path, DRIFTSCOPE_VERSION)));
  if (!options.summary.empty()) DRIFTSCOPE_CHECK(write_file(options.summary, github_summary(checks, view)));
  return {};
}

}  // namespace driftscope
