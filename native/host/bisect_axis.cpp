#include "native/host/bisect_axis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace driftscope {

const BisectAxis* AxisTable::find(std::string_view name) const {
  const auto found = std::ranges::find(axes_, name, &BisectAxis::name);
  return found == axes_.end() ? nullptr : &*found;
}

std::vector<AxisLevel> levels_of_option(const std::string& option, const std::vector<std::string>& values) {
  std::vector<AxisLevel> levels;
  for (const std::string& value : values) levels.push_back({value, {{option, value}}});
  return levels;
}

Result<std::vector<AxisLevel>> option_levels(const std::string& option, const AxisRequest& request) {
  if (!request.given.empty()) return levels_of_option(option, request.given);
  std::string listed;
  for (const EngineOption& one : request.engine.info().options) {
    if (one.name == option && !one.values.empty()) return levels_of_option(option, one.values);
    if (!one.values.empty()) listed += (listed.empty() ? "" : ", ") + one.name;
  }
  return bad_input(fmt::format(
      "--over {}: engine {} has no option of this name with a list of values{}; name the values to try, in "
      "order: --levels A,B,…",
      option, request.engine.name(), listed.empty() ? "" : " (those that it has: " + listed + ")"));
}

Result<std::vector<std::string>> chosen_levels(const std::vector<std::string>& all,
                                               const std::vector<std::string>& given, std::string_view what) {
  if (given.empty()) return all;
  std::vector<bool> chosen(all.size(), false);
  const auto place = [&](const std::string& name) -> Result<std::size_t> {
    const auto found = std::ranges::find(all, name);
    if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
    return bad_input(
        fmt::format("--levels {}: no {} of this name; there are {}", name, what, fmt::join(all, ", ")));
  };
  for (const std::string& one : given) {
    const auto dots = one.find("..");
    std::size_t first = 0;
    std::size_t last = all.size() - 1;
    if (dots == std::string::npos) {
      DRIFTSCOPE_TRY(first, place(one));
      last = first;
    } else {
      if (dots > 0) {
        DRIFTSCOPE_TRY(first, place(one.substr(0, dots)));
      }
      if (dots + 2 < one.size()) {
        DRIFTSCOPE_TRY(last, place(one.substr(dots + 2)));
      }
      if (first > last) return bad_input(fmt::format("--levels {}: the first comes after the last", one));
    }
    std::fill(chosen.begin() + static_cast<std::ptrdiff_t>(first),
              chosen.begin() + static_cast<std::ptrdiff_t>(last) + 1, true);
  }
  std::vector<std::string> result;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (chosen[i]) result.push_back(all[i]);
  return result;
}

}  // namespace driftscope
