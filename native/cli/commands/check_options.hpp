// --fail-on and the output of the checks: on the terminal, as JUnit XML, SARIF or Markdown, to GitHub.
// Clients: compare, baseline check.
#pragma once

#include <string>
#include <vector>

#include "core/checks/checks.hpp"

namespace CLI {
class App;
}

namespace driftscope {

struct CheckOptions {
  std::vector<std::string> fail_on;
  std::string junit;
  std::string sarif;
  std::string summary;
  std::string json;  ///< declared by the command; "-" keeps the standard output for it
};

/// `usual` is what applies when --fail-on is not given.
void add_check_options(CLI::App& app, CheckOptions& options, const std::string& usual);

[[nodiscard]] Result<FailOn> conditions_of(const CheckOptions& options, const std::string& usual);

/// Writes the files that are asked for and, where GITHUB_ACTIONS is set, annotations and the step's summary;
/// prints the checks when `print` is set or one failed. `model_path` as the user named it.
[[nodiscard]] Status report_checks(const CheckReport& checks, const ComparisonView& view,
                                   const CheckOptions& options, const std::string& model_path, bool print);

}  // namespace driftscope
