// Targets from options. An error in a name is reported before anything runs, not when its turn
// comes. Clients: the commands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/runtime/target.hpp"

namespace driftscope {

/// The engine, else the default one, on default_host(): "pc/strict".
[[nodiscard]] std::string default_target(std::string_view engine = {});

/// An error if there is no such engine, or it does not have these options.
[[nodiscard]] Result<Target> read_target(const std::string& text);

/// The targets of all lists, in order.
[[nodiscard]] Result<std::vector<Target>> read_targets(const std::vector<std::string>& lists);

}  // namespace driftscope
