// Names of inputs and sizes by patterns, as the rules on inputs have them.
// Clients: size roles, value rules.
#pragma once

#include <string>
#include <string_view>

namespace driftscope {

/// ASCII letters in lower case.
[[nodiscard]] std::string lower_case(std::string_view text);

/// Whether one of the patterns, separated by spaces, is the whole of the text; '*' is anything.
[[nodiscard]] bool matches_any(std::string_view patterns, std::string_view text);

}  // namespace driftscope
