// What the charts of a study show: bars with intervals by model, variant and target. Clients: the page of a
// study, the study view.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/draw/bar_chart.hpp"
#include "core/study/study_view.hpp"

namespace driftscope {

struct StudyChart {
  std::string_view group;  ///< "Accuracy"; charts of one group follow one another
  std::string title;       ///< "Accuracy, lenet5 on original"
  std::vector<Bar> bars;   ///< never none
  bool logarithmic = false;
};

/// Of what has run so far.
[[nodiscard]] std::vector<StudyChart> study_charts(const StudyView& view);

}  // namespace driftscope
