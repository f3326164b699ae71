// The folder of a study. Clients: the study command, the window.
#pragma once

#include <filesystem>

#include "core/study/stored_study.hpp"

namespace driftscope {

[[nodiscard]] bool is_study_folder(const std::filesystem::path& path);

/// From its files alone: nothing is opened that they name. Errors name the file.
[[nodiscard]] Result<StudyView> read_study_folder(const std::filesystem::path& folder);

}  // namespace driftscope
