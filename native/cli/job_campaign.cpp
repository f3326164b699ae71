#include "native/cli/job_campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

namespace driftscope {
namespace {

constexpr double learn_again = 5.0;  // s

class JobRun {
 public:
  JobRun(const JobCampaign& campaign, CampaignStore& store, JobPool& pool)
      : campaign_(campaign), store_(store), pool_(pool), begin_(seconds_now()), learnt_(begin_) {
    for (std::size_t i = 0; i < campaign.cells; ++i)
      if (!store.results().contains(campaign.name(i))) left_.push_back(i);
  }

  Result<bool> run() {
    while (!left_.empty() || !running_.empty()) {
      const bool over = campaign_.stopped() || out_of_time();
      if (over && running_.empty()) break;
      DRIFTSCOPE_CHECK(learn());
      if (!over) DRIFTSCOPE_CHECK(submit());
      show();
      DRIFTSCOPE_TRY(const std::vector<ProgramJobResult> ended, pool_.wait(job_look_again));
      for (const ProgramJobResult& result : ended) DRIFTSCOPE_CHECK(keep(result));
    }
    return left_.empty() && running_.empty();
  }

 private:
  struct Running {
    std::size_t cell = 0;
    int attempt = 1;
  };

  /// However short the budget is: one cell, so that the same command gets on each time.
  [[nodiscard]] bool out_of_time() const {
    return next_id_ > 1 && campaign_.budget_seconds && seconds_now() - begin_ > *campaign_.budget_seconds;
  }

  [[nodiscard]] std::string lane_of(std::size_t cell) const {
    return campaign_.lane ? campaign_.lane(cell) : std::string();
  }

  /// Cells that another process has done meanwhile are not begun.
  Status learn() {
    if (seconds_now() - learnt_ < learn_again) return {};
    learnt_ = seconds_now();
    DRIFTSCOPE_CHECK(store_.refresh());
    std::erase_if(left_, [&](std::size_t cell) { return store_.results().contains(campaign_.name(cell)); });
    return {};
  }

  Status submit() {
    std::set<std::string> busy;
    for (const auto& [id, one] : running_) busy.insert(lane_of(one.cell));
    for (auto cell = left_.begin(); cell != left_.end() && pool_.room() > 0 && !out_of_time();) {
      const std::string lane = lane_of(*cell);
      if (!lane.empty() && !busy.insert(lane).second) {
        ++cell;
        continue;
      }
      DRIFTSCOPE_CHECK(start(*cell, 1));
      cell = left_.erase(cell);
    }
    return {};
  }

  Status start(std::size_t cell, int attempt) {
    DRIFTSCOPE_TRY(ProgramJob job, campaign_.job(cell));
    job.id = next_id_++;
    running_[job.id] = {cell, attempt};
    return pool_.submit(std::move(job));
  }

  void show() const {
    JobCampaign::Progress progress;
    progress.total = static_cast<std::int64_t>(campaign_.cells);
    progress.done = progress.total - std::ssize(left_) - std::ssize(running_);
    std::vector<std::string> titles;
    for (const auto& [id, one] : running_) titles.push_back(campaign_.title(one.cell));
    progress.what = jobs_text(pool_, titles);
    if (ended_ > 0)
      progress.seconds_left = (seconds_now() - begin_) / static_cast<double>(ended_) *
                              static_cast<double>(std::ssize(left_) + std::ssize(running_));
    campaign_.progress(progress);
  }

  Status keep(const ProgramJobResult& result) {
    const auto found = running_.find(result.id);
    if (found == running_.end()) return {};
    const Running one = found->second;
    running_.erase(found);
    if (result.error && campaign_.stopped()) {  // it is not the cell that failed
      left_.push_back(one.cell);
      return {};
    }
    if (is_lost(result) && one.attempt < most_job_attempts) return start(one.cell, one.attempt + 1);
    DRIFTSCOPE_TRY(std::string line, campaign_.result(one.cell, result));
    ++ended_;
    return store_.add(campaign_.name(one.cell), std::move(line));
  }

  const JobCampaign& campaign_;
  CampaignStore& store_;
  JobPool& pool_;
  double begin_;
  double learnt_ = 0.0;
  std::int64_t ended_ = 0;  ///< by this process
  std::int64_t next_id_ = 1;
  std::vector<std::size_t> left_;
  std::map<std::int64_t, Running> running_;  // by the job's id
};

}  // namespace

std::string jobs_text(const JobPool& pool, const std::vector<std::string>& titles) {
  constexpr std::size_t most = 3;
  std::string text = pool.about();
  const std::size_t shown = std::min(titles.size(), most);
  for (std::size_t i = 0; i < shown; ++i) text += (text.empty() ? "" : i == 0 ? ": " : "; ") + titles[i];
  return titles.size() > shown ? text + fmt::format("; and {} more", titles.size() - shown) : text;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Result<bool> run_jobs(const JobCampaign& campaign, CampaignStore& store, JobPool& pool) {
  return JobRun(campaign, store, pool).run();
}

}  // namespace driftscope
