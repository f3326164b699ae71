// Texts in a file, one a line. Clients: commands whose texts come from files.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

/// The lines without their ends, which are "\n" or "\r\n"; empty ones too. Errors: those of reading.
[[nodiscard]] Result<std::vector<std::string>> text_lines(const std::string& path);

}  // namespace driftscope
