// The hunt: cases × targets, each judged; what is wrong for the first time is reduced and kept in a folder.
// Client: the command hunt.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/campaign/campaign.hpp"
#include "generated/documents/hunt.hpp"
#include "native/host/hunt_cases.hpp"
#include "native/host/run_request.hpp"
#include "native/jobs/job_pool.hpp"

namespace driftscope {

struct HuntPlan {
  std::vector<Target> targets;
  std::vector<std::string> names;          ///< of the targets in the store
  std::optional<std::int64_t> cases = {};  ///< the first ones; nothing: without end
  std::optional<double> seconds = {};
  std::filesystem::path folder;      ///< findings/ is made in it
  std::int64_t reduce_seconds = 60;  ///< for each finding; 0: none is reduced
  std::int64_t reduce_tries = 200;
  RunnerOptions runner;
  JobPool* pool = nullptr;  ///< where cases are judged; null: here
  /// The job, without an id, that judges so many cases from `first` on: run_hunt_block's text is its result.
  std::function<ProgramJob(std::size_t target, std::int64_t first, std::int64_t count)> job = {};
  std::function<bool()> stopped;  ///< true: enough; what was judged stays
  /// A finding unlike those before on this target.
  std::function<void(const std::string& target, const documents::HuntFound& found, const std::string& of)>
      found;
  std::function<void(const std::string& step, std::int64_t done, std::int64_t total)> progress;
};

/// Goes on from what the store has. Fills in targets, findings and refusals of `hunt`. Errors: those of the
/// store, of cases, of files; that a target ends is part of the result.
[[nodiscard]] Status run_hunt(HuntCases& cases, const HuntPlan& plan, CampaignStore& store,
                              documents::Hunt& hunt);

/// model.onnx and NAME.npy of each input; the folder is made.
[[nodiscard]] Status write_case(const HuntCase& one, const std::filesystem::path& folder);

}  // namespace driftscope
