// The options of an engine one by one: each with each of its other values, the rest as it is.
#include <fmt/format.h>

#include <algorithm>

#include "core/engines/peer/release.hpp"
#include "native/host/bisect_axis.hpp"

namespace driftscope::bisect_axes::flags {

static Result<std::vector<AxisLevel>> levels(const AxisRequest& request) {
  std::vector<AxisLevel> levels = {{"as given", {}}};
  std::vector<std::string> names = {levels.front().name};
  for (const EngineOption& option : request.engine.info().options) {
    if (option.name == peer::build_name || request.target.options.contains(option.name)) continue;
    for (const std::string& value : option.values)
      if (value != option.default_text) {
        names.push_back(fmt::format("{}={}", option.name, value));
        levels.push_back({names.back(), {{option.name, value}}});
      }
  }
  if (levels.size() == 1)
    return bad_input(
        fmt::format("--over flags: engine {} has no option with a list of values that the target "
                    "does not set already",
                    request.engine.name()));
  DRIFTSCOPE_TRY(const auto chosen, chosen_levels(names, request.given, "flag"));
  std::erase_if(levels, [&](const AxisLevel& level) {
    return std::find(chosen.begin(), chosen.end(), level.name) == chosen.end() && !level.options.empty();
  });
  return levels;
}

void add_to(AxisTable& table) {
  table.add({.name = "flags",
             .summary = "each option of the engine by itself, with each of its other values",
             .ordered = false,
             .levels = levels});
}

}  // namespace driftscope::bisect_axes::flags
