// Runs the cells of a study that its store does not have. Client: the study command.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/campaign/campaign.hpp"
#include "core/study/stored_study.hpp"
#include "core/study/study_schedule.hpp"
#include "native/host/run_request.hpp"

namespace driftscope {

struct StudyProgress {
  std::string what;  ///< "chrome/fast: resnet20, original: running"
  StudySchedule::Amount done, total;
  std::optional<double> seconds_left;
};

struct StudyRunOptions {
  std::optional<double> budget_seconds = {};
  RunnerOptions runner = {};
  std::function<bool()> stopped;
  std::function<void(const StudyProgress&)> progress;
};

/// Models and data sets of the study, read; reports need their sizes alone.
class StudyFiles;

/// Opens everything before anything runs. `folder`: of relative paths; shipped:NAME is looked for in the
/// page's folder. Errors: files, data sets without labels or of other shapes, hosts and engines that are
/// not here.
[[nodiscard]] Result<std::shared_ptr<StudyFiles>> open_study_files(const documents::Study& study,
                                                                   const std::filesystem::path& folder,
                                                                   const RunnerOptions& options);

/// The study with its store in `out`: begun, or gone on with. Errors: those of FileStore.
[[nodiscard]] Result<std::unique_ptr<CampaignStore>> open_study_store(const documents::Study& study,
                                                                      const StudyFiles& files,
                                                                      const std::filesystem::path& out,
                                                                      const RunnerOptions& options);

/// Until all cells have a result, the budget is used up or it is stopped; whether all have one. A cell that
/// fails is recorded with its reason. Errors: those of the store.
[[nodiscard]] Result<bool> run_study(const documents::Study& study, StudyFiles& files, CampaignStore& store,
                                     const StudyRunOptions& options);

/// Bytes of the file of each of subjects_of.
[[nodiscard]] std::vector<std::int64_t> study_file_bytes(const StudyFiles& files);

}  // namespace driftscope
