// A hunt whose cases are judged as jobs of a pool, in blocks; what is found is reduced and kept here, in the
// order of the cases, so that the same hunt has the same findings wherever it was judged. Clients: hunt_run;
// the hidden command hunt-block, which is such a job.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "native/host/hunt_keep.hpp"

namespace driftscope {

/// Judges these cases: JSON, as read_hunt_block takes it. Errors: those of the cases, of the target.
[[nodiscard]] Result<std::string> run_hunt_block(HuntCases& cases, const Target& target, std::int64_t first,
                                                 std::int64_t count, const RunnerOptions& runner);

/// Errors: not so many cells, or none.
[[nodiscard]] Result<std::vector<documents::HuntCase>> read_hunt_block(std::string_view text,
                                                                       std::int64_t count);

/// By target, why nothing more of it was run. Errors: those of the store, of the pool, of files.
[[nodiscard]] Result<std::vector<std::optional<Error>>> run_hunt_jobs(const HuntPlan& plan,
                                                                      HuntKeeper& keeper,
                                                                      CampaignStore& store);

}  // namespace driftscope
