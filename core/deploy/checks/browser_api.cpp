// Interfaces of browsers that some visitors do not have, where nothing else is there to fall back to.
#include <fmt/format.h>

#include <set>

#include "core/deploy/deploy_check.hpp"

namespace driftscope::deploy_checks::browser_api {

namespace {

std::vector<DeployFinding> find(const DeployContext& context) {
  std::set<std::string> needed;
  std::vector<std::string> targets;
  for (const DeployTarget& target : context.targets) {
    if (!target.in_browser()) continue;
    const std::string& api = target.engine->info().browser_api;
    if (api.empty()) return {};  // it runs wherever WebAssembly does
    needed.insert(api);
    targets.push_back(target.name);
  }
  if (targets.empty()) return {};
  const std::string apis = fmt::format("{}", fmt::join(needed, " and "));
  return {
      {.severity = DeploySeverity::warning,
       .where = context.model->name,
       .targets = targets,
       .shows = fmt::format("nothing runs for visitors without {}", apis),
       .why = "every target in a browser calls what older browsers, blocked drivers and machines without a "
              "usable GPU lack; none computes on the CPU alone",
       .fix = "ask for it when the page loads, and fall back to an engine on the CPU (name one in --targets "
              "to see what it makes of the model)"}};
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add({.name = "browser_api",
             .about = "WebGPU, WebGL or WebNN needed, with nothing to fall back to",
             .find = find});
}

}  // namespace driftscope::deploy_checks::browser_api
