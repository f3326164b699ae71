// On which line of a JSON text a value is, so that an error in a file that people write names it.
// Client: study_file.
#pragma once

#include <string_view>

namespace driftscope {

/// `text` must be valid JSON; `path` as JsonPath writes it: "models[0].data[1].source". The line of the
/// innermost value on that path that is there, counted from 1.
[[nodiscard]] int json_line(std::string_view text, std::string_view path);

}  // namespace driftscope
