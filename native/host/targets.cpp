#include "native/host/targets.hpp"

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/runtime/engine.hpp"
#include "core/runtime/resolve_target.hpp"
#include "native/host/host.hpp"

namespace driftscope {
namespace {

Status check_engine(const Target& target) {
  DRIFTSCOPE_TRY(const Host* const host, find_host(target));
  if (!host->facts().runs) return {};
  auto resolved = resolve_target(target);
  if (!resolved.ok()) return in_context(std::move(resolved).error(), "target " + in_quotes(target.text()));
  if (host->can_run(resolved->engine->info())) return {};
  std::vector<std::string_view> others;
  for (const auto& other : host_table().all())
    if (other->can_run(resolved->engine->info())) others.push_back(other->facts().name);
  return bad_input(fmt::format("target {}: {} cannot run the engine {}; hosts that can: {}",
                               in_quotes(target.text()), target.host, target.engine,
                               fmt::join(others, ", ")));
}

}  // namespace

std::string default_target(std::string_view engine) {
  return fmt::format("{}/{}", default_host(), engine.empty() ? default_engine().name() : engine);
}

Result<Target> read_target(const std::string& text) {
  DRIFTSCOPE_TRY(Target target, parse_target(text));
  DRIFTSCOPE_CHECK(check_engine(target));
  return target;
}

Result<std::vector<Target>> read_targets(const std::vector<std::string>& lists) {
  std::vector<Target> targets;
  for (const std::string& list : lists) {
    DRIFTSCOPE_TRY(const auto parsed, parse_targets(list));
    for (const Target& target : parsed) {
      DRIFTSCOPE_CHECK(check_engine(target));
      targets.push_back(target);
    }
  }
  return targets;
}

}  // namespace driftscope
