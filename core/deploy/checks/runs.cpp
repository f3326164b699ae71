// With --run: targets on which the model does not run, or does not answer with numbers where it should.
#include <fmt/format.h>

#include <algorithm>

#include "core/deploy/deploy_check.hpp"

namespace driftscope::deploy_checks::runs {

namespace {

DeployFinding failure_of(const DeployRun& run, const DeployRuns& runs) {
  if (run.failure->kind == ErrorKind::missing)
    return {.severity = DeploySeverity::warning,
            .where = run.target,
            .targets = {run.target},
            .shows = "not tried: this machine lacks what the target needs",
            .why = run.failure->message,
            .fix = "a visitor may lack it as well: fall back to another engine, or try it where it is there"};
  return {.severity = DeploySeverity::error,
          .where = run.target,
          .targets = {run.target},
          .shows = "the model does not run",
          .why = fmt::format("{} (input {})", run.failure->message, runs.input),
          .fix = "use another engine there, or change what the message names"};
}

bool finite_here(const DeployRuns& runs, const std::string& output) {
  const auto found = std::ranges::find(runs.outputs, output, &NamedRange::name);
  return found != runs.outputs.end() && found->range.finite();
}

std::vector<DeployFinding> find(const DeployContext& context) {
  std::vector<DeployFinding> findings;
  if (context.runs == nullptr) return findings;
  for (const DeployRun& run : context.runs->targets) {
    if (run.failure) {
      findings.push_back(failure_of(run, *context.runs));
      continue;
    }
    for (const NamedRange& output : run.outputs)
      if (!output.range.finite() && finite_here(*context.runs, output.name))
        findings.push_back(
            {.severity = DeploySeverity::error,
             .where = output.name,
             .targets = {run.target},
             .shows = "answers hold NaN or infinity",
             .why = fmt::format("{} has {}; on pc/strict all are finite (input {})", output.name,
                                not_finite_text(output.range), context.runs->input),
             .fix = fmt::format("find the layer: driftscope compare {} --right {}", context.model->name,
                                run.target)});
  }
  return findings;
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add({.name = "runs", .about = "targets that fail, or answer with NaN or infinity", .find = find});
}

}  // namespace driftscope::deploy_checks::runs
