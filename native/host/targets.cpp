#include "native/host/targets.hpp"

#include "core/base/text.hpp"
#include "core/runtime/resolve_target.hpp"

namespace driftscope {
namespace {

Status check_engine(const Target& target) {
  if (target.host == "file") return {};
  if (auto resolved = resolve_target(target); !resolved.ok())
    return in_context(std::move(resolved).error(), "target " + in_quotes(target.text()));
  return {};
}

}  // namespace

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
