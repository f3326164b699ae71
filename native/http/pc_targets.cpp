#include "core/runtime/engine.hpp"
#include "native/http/pc_runs.hpp"

namespace driftscope {

std::vector<std::string> pc_targets() {
  std::vector<std::string> targets;
  for (const auto& engine : engines())
    if (runs_on(engine->info(), "pc") && engine->available().ok) targets.push_back("pc/" + engine->name());
  return targets;
}

}  // namespace driftscope
