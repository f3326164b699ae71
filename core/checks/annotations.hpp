// What GitHub Actions shows beside a change: workflow commands, and a summary in Markdown.
// Client: the command line, where GITHUB_ACTIONS is set.
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
#pragma once

#include <string>

#include "core/checks/checks.hpp"

namespace driftscope {

/// "::error file=…,title=…::message" lines: errors for what failed, warnings for suspects and faults that
/// do not count, notices for what was skipped. GitHub shows ten of each; the tenth says how many remain.
/// `model_path`: relative to the repository.
[[nodiscard]] std::string github_annotations(const CheckReport& checks, const std::string& model_path);

/// A heading, a table of the targets and the failures, as Markdown; below GitHub's 1 MiB.
[[nodiscard]] std::string github_summary(const CheckReport& checks, const ComparisonView& view);

}  // namespace driftscope
