// Unguessable names for URLs and for marking processes, from the operating system's generator.
// Clients: server, jobs, launcher.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace driftscope {

/// 192 random bits as 48 lower-case hexadecimal digits.
[[nodiscard]] Result<std::string> random_token();

/// Compares in constant time, so that the duration does not reveal how much was right.
[[nodiscard]] bool same_token(std::string_view given, std::string_view token);

}  // namespace driftscope
