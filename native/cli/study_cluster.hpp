// Runs the cells of a study that its store does not have as jobs of a pool: which is next and what is kept is
// decided here, as study_run does. Client: the study command with --cluster.
#pragma once

#include "native/cli/study_run.hpp"
#include "native/jobs/job_pool.hpp"

namespace driftscope {

/// As run_study; of the options, jobs is the pool's. Parts of one series run one after the other, and what
/// measures time alone. A cell whose worker is lost is begun once more. Errors: those of the store, and of
/// the pool.
[[nodiscard]] Result<bool> run_study_jobs(const documents::Study& study, StudyFiles& files,
                                          CampaignStore& store, const StudyRunOptions& options,
                                          JobPool& pool);

}  // namespace driftscope
