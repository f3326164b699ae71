// Which cells of a campaign are next, how many at a time, and how long the rest will take.
// Client: run_campaign. It runs nothing and knows no clock: times are handed in.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace driftscope {

/// What ends a campaign before its last cell; both are of this process, not of an earlier one.
struct CampaignBudget {
  std::optional<double> seconds = {};
  std::optional<std::int64_t> cells = {};
};

struct CampaignStep {
  std::size_t target = 0;
  std::int64_t done = 0;                    ///< cells, those of earlier runs included
  std::optional<std::int64_t> total = {};   ///< but for what was given up; nothing: without end
  std::optional<double> seconds_left = {};  ///< estimated from the cells of this process; nothing: too few
};
using CampaignProgress = std::function<void(const CampaignStep&)>;

struct CampaignBatch {
  std::size_t target = 0;
  std::vector<std::int64_t> items;
};

class CampaignSchedule {
 public:
  struct Plan {
    std::size_t targets = 0;
    std::optional<std::int64_t> items = {};
    std::function<bool(std::size_t target, std::int64_t item)> known;  ///< has a result already
    CampaignBudget budget = {};
    std::optional<double> batch_seconds = {};
  };
  CampaignSchedule(Plan plan, double now);

  /// The next cells, all of one target; nothing when all are done or the budget is used up.
  [[nodiscard]] std::optional<CampaignBatch> next(double now);
  /// The batch has its results.
  void done(const CampaignBatch& batch, double now);
  /// Nothing more of this target.
  void give_up(std::size_t target);

  /// Whether every cell has its result, but for targets that were given up.
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] CampaignStep step(std::size_t target) const;

 private:
  [[nodiscard]] std::int64_t round_end() const;
  [[nodiscard]] std::int64_t batch_limit(std::size_t target) const;

  /// Of a target.
  struct Pace {
    std::int64_t cells = 0;  ///< done by this process after its first batch
    double seconds = 0.0;    ///< these took
    std::int64_t batch = 1;  ///< items at a time
    bool opened = false;     ///< its first batch is done
    bool given_up = false;
  };

  Plan plan_;
  double start_;
  double batch_start_ = 0.0;
  std::vector<Pace> paces_;
  std::vector<std::int64_t> left_;  ///< by target; unused without an end
  std::int64_t done_ = 0;
  std::int64_t ran_ = 0;  ///< by this process
  // The next cell: items first, then targets, then the next round of a source without end.
  std::int64_t round_ = 0;
  std::size_t target_ = 0;
  std::int64_t item_ = 0;
  bool finished_ = false;
};

}  // namespace driftscope
