// A study with its results, from the texts of the files in its folder. Clients: the study command, the
// window. It opens no file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/study/study_view.hpp"

namespace driftscope {

/// The study itself, its results, and the bytes of its models, in its folder.
inline constexpr std::string_view study_file_name = "study.json";
inline constexpr std::string_view study_store_name = "cells.jsonl";
inline constexpr std::string_view study_sizes_name = "sizes.json";

struct StudyTexts {
  std::string study;
  std::string cells;
  std::string sizes;
};

/// Errors name the file that is damaged.
[[nodiscard]] Result<StudyView> read_stored_study(const StudyTexts& texts);

/// Names of the study's targets in a store, where they have the version of their host.
[[nodiscard]] std::vector<std::string> study_targets_in_store(const documents::Study& study,
                                                              const CampaignResults& cells);

}  // namespace driftscope
