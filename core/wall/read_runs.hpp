// The runs of a stored comparison (`compare --json`, `baseline check --json`) for a wall. Clients: whoever
// reads a folder of them. It opens no file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/wall/run.hpp"

namespace driftscope::wall {

/// Whether JSON may be such a document, of any version: a look at its beginning, so that the many other files
/// of a folder are left alone. `start`: as much of the file as looked_at bytes.
inline constexpr std::size_t looked_at = 64 * 1024;
[[nodiscard]] bool may_be_comparison(std::string_view start);

/// All targets of the document, the left one first. `name`: of the file; `written`: when it was, as Run::date
/// has it, for documents in which nothing has a date. Errors say where what is wrong.
[[nodiscard]] Result<std::vector<Run>> read_runs(std::string_view json, const std::string& name,
                                                 const std::string& written);

}  // namespace driftscope::wall
