// Cells that are jobs: those that a store does not have are handed to a pool, and each result is kept at
// once. Clients: matrix, verify. Where jobs run is the pool's, where results are kept is the store's.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/campaign/campaign.hpp"
#include "native/jobs/job_pool.hpp"

namespace driftscope {

struct JobCampaign {
  std::size_t cells = 0;
  std::function<CampaignCell(std::size_t cell)> name;  ///< in the store
  std::function<std::string(std::size_t cell)> title;  ///< in the progress line
  /// Cells of one lane run one after the other; empty: beside any.
  std::function<std::string(std::size_t cell)> lane = {};
  /// Without an id.
  std::function<Result<ProgramJob>(std::size_t cell)> job;
  /// The line of the store, of a job that ended, or was lost twice.
  std::function<Result<std::string>(std::size_t cell, const ProgramJobResult& result)> result;
  std::optional<double> budget_seconds = {};  ///< then no cell begins, but for the first
  std::function<bool()> stopped;              ///< then none begins, and those that run are waited for
  struct Progress {
    std::int64_t done = 0;  ///< those of earlier runs included
    std::int64_t total = 0;
    std::string what;  ///< the pool, and what runs
    std::optional<double> seconds_left = {};
  };
  std::function<void(const Progress&)> progress;
};

// What those that have jobs in another order than this share with it.

inline constexpr auto job_look_again = std::chrono::milliseconds(250);
/// A cell whose process or machine was lost is begun once more.
inline constexpr int most_job_attempts = 2;
/// Whether the job was lost. One that took too long was not: it would again.
[[nodiscard]] inline bool is_lost(const ProgramJobResult& result) {
  return result.error && result.error->kind != ErrorKind::limit;
}
/// For progress: the pool, and some of what runs.
[[nodiscard]] std::string jobs_text(const JobPool& pool, const std::vector<std::string>& titles);
/// Of a clock that does not go back.
[[nodiscard]] double seconds_now();

/// Whether every cell has its result. Errors: those of the store, of the pool and of the functions; what is
/// in the store stays.
[[nodiscard]] Result<bool> run_jobs(const JobCampaign& campaign, CampaignStore& store, JobPool& pool);

}  // namespace driftscope
