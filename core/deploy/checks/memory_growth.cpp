// With --run: memory that grows from run to run, until the tab or the process ends.
#include <fmt/format.h>

#include "core/deploy/deploy_check.hpp"

namespace driftscope::deploy_checks::memory_growth {

namespace {

std::vector<DeployFinding> find(const DeployContext& context) {
  std::vector<DeployFinding> findings;
  if (context.runs == nullptr) return findings;
  for (const DeployRun& run : context.runs->targets) {
    if (!run.memory || growth_of(*run.memory) != Growth::grows) continue;
    findings.push_back({.severity = DeploySeverity::warning,
                        .where = run.target,
                        .targets = {run.target},
                        .shows = "memory grows with every run, until the tab ends",
                        .why = memory_over_runs_text(*run.memory),
                        .fix =
                            "give results back where the runtime asks for it (dispose, delete, destroy); if "
                            "it still grows, report it to its makers, and make a new session now and then"});
  }
  return findings;
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add({.name = "memory_growth", .about = "memory that grows from run to run", .find = find});
}

}  // namespace driftscope::deploy_checks::memory_growth
