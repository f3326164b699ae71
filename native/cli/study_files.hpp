// What a study runs on: models, data sets, targets, and its folder. Clients: the study command, study_cells,
// study_run.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/campaign/campaign.hpp"
#include "core/study/stored_study.hpp"
#include "native/host/inputs.hpp"
#include "native/host/run_request.hpp"

namespace driftscope {

struct StudyFiles {
  struct Subject {
    StudySubject subject;
    ModelFile model;
    std::vector<GivenDataset> data;  ///< its own; those that are generated are empty until they are made
  };
  std::vector<Subject> subjects;
  std::vector<Target> targets;
  std::filesystem::path out;  ///< the study's folder
  std::vector<std::int64_t> bytes() const;
};

/// Opens everything before anything runs. `folder`: of relative paths; shipped:NAME is looked for in the
/// page's folder. Errors: files, data sets without labels or of other shapes, hosts and engines that are
/// not here.
[[nodiscard]] Result<std::shared_ptr<StudyFiles>> open_study_files(const documents::Study& study,
                                                                   const std::filesystem::path& folder,
                                                                   const RunnerOptions& options);

/// Makes the data sets that are generated, or reads those that the folder `out` has. `progress`: what is
/// being made, how many are, and of how many. Errors: those of generate_set; a set in the folder that was
/// made otherwise.
[[nodiscard]] Status make_study_data(
    StudyFiles& files, const std::filesystem::path& folder, const RunnerOptions& options,
    const std::function<void(const std::string& what, std::int64_t made, std::int64_t all)>& progress,
    const std::function<bool()>& stopped);

/// The study with its store in `out`: begun, or gone on with. Errors: those of FileStore.
[[nodiscard]] Result<std::unique_ptr<CampaignStore>> open_study_store(const documents::Study& study,
                                                                      const StudyFiles& files,
                                                                      const RunnerOptions& options);

}  // namespace driftscope
