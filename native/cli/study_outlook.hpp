// What those that run the cells of a study ask of it, wherever the cells run: how many samples there are,
// what a cell is called, what of other cells it needs, how long the rest takes. Clients: study_run,
// study_cluster.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "native/cli/study_files.hpp"
#include "native/cli/study_paces.hpp"

namespace driftscope {

struct StudyOutlook {
  const documents::Study& study;
  const StudyFiles& files;

  /// Of each own data set of each subject.
  [[nodiscard]] std::vector<std::vector<std::int64_t>> samples() const;
  /// In the progress line: "chrome/fast: resnet20, original".
  [[nodiscard]] std::string title(const StudyCell& cell) const;
  /// The subject that is the model itself.
  [[nodiscard]] std::size_t base_of(std::size_t subject) const;
  /// The adversarials that the cell's samples are; none: they are of a data set.
  [[nodiscard]] Adversarials made_for(const StudyCell& cell, const StudyResults& results) const;
  /// All that is left, one after the other; nothing: something of it is of a kind that has not run.
  [[nodiscard]] std::optional<double> seconds_left(const StudySchedule& schedule, const StudyResults& results,
                                                   const StudyPaces& paces) const;
};

}  // namespace driftscope
