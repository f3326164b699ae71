// A study as one self-contained HTML page, without scripts: claims, charts with intervals, tables.
// Client: the study command.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/study/study_tables.hpp"

namespace driftscope {

[[nodiscard]] std::string study_report(const StudyView& view, const std::vector<StudyTable>& tables);

/// Of a study, on the page of several.
struct StudySummary {
  std::string folder;  ///< of its report, relative to that page
  std::string title, about;
  std::int64_t cells = 0;
  std::int64_t failed = 0;                     ///< of these
  std::map<std::string, std::int64_t> claims;  ///< how many, by what was found
};
/// A page that leads to the report of each.
[[nodiscard]] std::string studies_index(const std::vector<StudySummary>& studies);

}  // namespace driftscope
