// Attacks that were kept: a folder of `attack -o`, or its attack.json. Clients: report, the window.
#pragma once

#include <filesystem>

#include "core/report/attack_results.hpp"

namespace driftscope {

/// A folder with an attack.json, or a file whose first bytes are those of one.
[[nodiscard]] bool is_attack(const std::filesystem::path& path);

/// With the arrays that lie beside it; without them where there are none.
[[nodiscard]] Result<AttackResults> read_attack(const std::filesystem::path& path);

}  // namespace driftscope
