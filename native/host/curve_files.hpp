// Training curves from files and folders. Clients: the command `curves`, the window.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/curves/curve_set.hpp"

namespace driftscope {

/// A folder of `python -m driftscope.training`, or one with event files in it or somewhere below; a file
/// whose name or contents say that it may be one.
[[nodiscard]] bool is_curves(const std::filesystem::path& path);

/// Of files as they are; of a folder its training.json, or all event files in it and below, in the order of
/// their names. Errors name the file or folder, what was expected and what is there.
[[nodiscard]] Result<std::vector<NamedCurveFile>> read_curve_files(const std::vector<std::string>& given);

}  // namespace driftscope
