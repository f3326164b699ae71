// Runs the cells of a study that its store does not have. Client: the study command.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/study/study_schedule.hpp"
#include "native/cli/study_files.hpp"

namespace driftscope {

struct StudyProgress {
  std::string what;  ///< "chrome/fast: resnet20, original: running"
  StudySchedule::Amount done, total;
  std::optional<double> seconds_left;
};

struct StudyRunOptions {
  std::optional<double> budget_seconds = {};
  RunnerOptions runner = {};
  /// Cells at a time, those on different hosts; times are always measured alone.
  int jobs = 1;
  std::function<bool()> stopped;
  std::function<void(const StudyProgress&)> progress;
};

/// Until all cells have a result, the budget is used up or it is stopped; whether all have one. A cell that
/// fails is recorded with its reason. Errors: those of the store.
[[nodiscard]] Result<bool> run_study(const documents::Study& study, StudyFiles& files, CampaignStore& store,
                                     const StudyRunOptions& options);

}  // namespace driftscope
