// A study as one self-contained HTML page, without scripts: claims, charts with intervals, tables.
// Client: the study command.
#pragma once

#include <string>

#include "core/study/study_tables.hpp"

namespace driftscope {

[[nodiscard]] std::string study_report(const StudyView& view, const std::vector<StudyTable>& tables);

}  // namespace driftscope
