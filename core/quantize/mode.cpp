#include "core/quantize/mode.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"

namespace driftscope::quantize {

void ModeTable::add(Mode mode) {
  const auto behind = std::ranges::upper_bound(modes_, mode.order, {}, &Mode::order);
  modes_.insert(behind, std::move(mode));
}

std::string mode_names() {
  std::vector<std::string> names;
  for (const Mode& mode : mode_table().all()) names.push_back(mode.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<const Mode*> find_mode(std::string_view name) {
  for (const Mode& mode : mode_table().all())
    if (mode.name == name) return &mode;
  return bad_input(fmt::format("--mode {}: expected one of {}", in_quotes(name), mode_names()));
}

}  // namespace driftscope::quantize
