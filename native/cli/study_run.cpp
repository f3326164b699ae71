#include "native/cli/study_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>

#include "core/base/json.hpp"
#include "native/cli/host_lanes.hpp"
#include "native/cli/result_store.hpp"
#include "native/cli/study_outlook.hpp"
#include "native/cli/study_work.hpp"

namespace driftscope {
namespace {

constexpr auto refresh = std::chrono::milliseconds(200);

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A cell on a thread.
struct RunningCell {
  StudyCell cell;
  std::vector<std::string> hosts;
  std::string title;
  double begin = 0.0;
  std::string step;  ///< under the run's mutex, as what follows
  std::optional<StudyWork::Outcome> outcome = {};
};

class StudyRun {
 public:
  StudyRun(const documents::Study& study, StudyFiles& files, CampaignStore& store,
           const StudyRunOptions& options)
      : store_(store),
        options_(options),
        outlook_{study, files},
        schedule_(study, outlook_.samples()),
        targets_(names_in_store(files.targets, options.runner)),
        ledger_(study, targets_),
        work_(study, files, options.runner, options.stopped),
        begin_(now_seconds()) {}

  StudyRun(const StudyRun&) = delete;
  StudyRun& operator=(const StudyRun&) = delete;

  Result<bool> run() {
    auto finished = run_cells();
    {
      // After an error of the store others may still run.
      std::unique_lock lock(mutex_);
      finished_.wait(lock, [&] {
        return std::ranges::all_of(running_, [](const RunningCell& one) { return one.outcome.has_value(); });
      });
    }
    work_.rest();
    return finished;
  }

 private:
  Result<bool> run_cells() {
    DRIFTSCOPE_CHECK(ledger_.add_all(store_.results()));
    for (;;) {
      // However short the budget is: one cell, so that the same command gets on each time.
      const bool over = options_.stopped() || (begun_ && options_.budget_seconds &&
                                               now_seconds() - begin_ > *options_.budget_seconds);
      bool nothing_left = false;
      while (!over && std::ssize(running_) < options_.jobs && !timing()) {
        const auto cell =
            schedule_.next(ledger_.results(), [&](const StudyCell& one) { return in_use(one); });
        if (!cell) {
          nothing_left = running_.empty();
          break;
        }
        // What measures time is alone. It waits for what runs: nothing of its round is left to run beside it.
        if (!running_.empty() && cell->task == StudyTask::times) break;
        start(*cell);
        if (cell->task == StudyTask::times) break;
      }
      if (running_.empty()) return nothing_left;
      wait();
      DRIFTSCOPE_CHECK(keep_finished());
    }
  }

  [[nodiscard]] bool timing() const {
    return !running_.empty() && running_.front().cell.task == StudyTask::times;
  }

  /// Whether a part of the same runs, or something on its hosts.
  [[nodiscard]] bool in_use(const StudyCell& cell) const {
    if (running_.empty()) return false;
    const std::vector<std::string> hosts = work_.hosts(cell);
    return std::ranges::any_of(running_, [&](const RunningCell& one) {
      return one.cell.same_series(cell) || std::ranges::find_first_of(one.hosts, hosts) != one.hosts.end();
    });
  }

  void start(const StudyCell& cell) {
    begun_ = true;
    RunningCell& one = running_.emplace_back(RunningCell{.cell = cell,
                                                         .hosts = work_.hosts(cell),
                                                         .title = outlook_.title(cell),
                                                         .begin = now_seconds(),
                                                         .step = {}});
    one.cell.samples = paces_.samples_at_a_time(cell);
    // A copy: others are added to the ledger while it runs.
    Adversarials made = outlook_.made_for(cell, ledger_.results());
    lanes_.start(one.hosts.front(), [this, &one, made = std::move(made)] {
      StudyWork::Outcome outcome =
          work_.run(one.cell, made, [&](std::string_view step, std::int64_t, std::int64_t) {
            const std::lock_guard lock(mutex_);
            one.step = step;
          });
      // Nothing of `one` is used behind this: it is erased when it is over.
      const std::lock_guard lock(mutex_);
      one.outcome = std::move(outcome);
      finished_.notify_one();
    });
  }

  /// Until one has finished; shows meanwhile what runs.
  void wait() {
    StudyProgress progress{.what = {},
                           .done = schedule_.done(ledger_.results()),
                           .total = schedule_.total(),
                           .seconds_left = seconds_left()};
    std::unique_lock lock(mutex_);
    const auto any = [&] {
      return std::ranges::any_of(running_, [](const RunningCell& one) { return one.outcome.has_value(); });
    };
    while (!any()) {
      progress.what.clear();
      for (const RunningCell& one : running_)
        progress.what += fmt::format("{}{}{}", progress.what.empty() ? "" : "; ", one.title,
                                     one.step.empty() ? "" : ": " + one.step);
      lock.unlock();
      options_.progress(progress);
      lock.lock();
      finished_.wait_for(lock, refresh, any);
    }
  }

  Status keep_finished() {
    for (auto one = running_.begin(); one != running_.end();) {
      {
        const std::lock_guard lock(mutex_);
        if (!one->outcome) {
          ++one;
          continue;
        }
      }
      worked_ += now_seconds() - one->begin;
      const StudyWork::Outcome outcome = *std::move(one->outcome);
      paces_.add(one->cell, outcome.seconds);
      const CampaignCell cell{targets_[one->cell.target], outcome.item};
      one = running_.erase(one);
      if (outcome.failed && options_.stopped()) continue;  // it is not the cell that failed
      std::string line = json_text(outcome.result);
      DRIFTSCOPE_CHECK(ledger_.add(cell, line));
      DRIFTSCOPE_CHECK(store_.add(cell, std::move(line)));
    }
    return {};
  }

  /// By the paces so far, over all that is left; within the budget.
  [[nodiscard]] std::optional<double> seconds_left() const {
    std::optional<double> seconds = outlook_.seconds_left(schedule_, ledger_.results(), paces_);
    // Cells side by side: so many seconds of them went into one of the clock so far.
    const double elapsed = now_seconds() - begin_;
    if (seconds && elapsed > 0.0)
      *seconds /= std::clamp(worked_ / elapsed, 1.0, static_cast<double>(options_.jobs));
    if (!options_.budget_seconds) return seconds;
    const double left = std::max(0.0, *options_.budget_seconds - (now_seconds() - begin_));
    return std::min(left, seconds.value_or(left));
  }

  CampaignStore& store_;
  const StudyRunOptions& options_;
  StudyOutlook outlook_;
  StudySchedule schedule_;
  std::vector<std::string> targets_;
  StudyLedger ledger_;
  StudyWork work_;
  StudyPaces paces_;
  double begin_;
  bool begun_ = false;
  double worked_ = 0.0;             ///< seconds of all cells together
  std::list<RunningCell> running_;  // places stay while threads use them
  std::mutex mutex_;
  std::condition_variable finished_;
  HostLanes lanes_;  // ends first: its threads use the rest
};

}  // namespace

Result<bool> run_study(const documents::Study& study, StudyFiles& files, CampaignStore& store,
                       const StudyRunOptions& options) {
  return StudyRun(study, files, store, options).run();
}

}  // namespace driftscope
