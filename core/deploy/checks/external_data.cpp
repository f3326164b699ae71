// Files of external data that are not there.
#include "core/deploy/deploy_check.hpp"

namespace driftscope::deploy_checks::external_data {

namespace {

std::vector<DeployFinding> find(const DeployContext& context) {
  std::vector<DeployFinding> findings;
  for (const ExternalFile& file : context.model->external)
    if (!file.problem.empty())
      findings.push_back(
          {.severity = DeploySeverity::error,
           .where = file.location,
           .shows = "the model does not load: its weights are in a file that cannot be read",
           .why = file.problem,
           .fix = "put the file beside the model under exactly this name (the model contains it), "
                  "or save the model with its weights inside"});
  return findings;
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add({.name = "external_data", .about = "files of weights that are not there", .find = find});
}

}  // namespace driftscope::deploy_checks::external_data
