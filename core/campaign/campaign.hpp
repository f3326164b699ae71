// A campaign: the items of a source × targets, each cell of which is checked once and its result kept in a
// store. Clients: what runs many cases (conformance, data sets). What a check does, and where a store is,
// they bring; this knows neither files nor clocks nor targets.
//
// Cells are independent: what a result is depends on the definition and on the cell, not on the order, on
// batches, on a budget, or on whether the campaign was interrupted.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/campaign/schedule.hpp"

namespace driftscope {

struct CampaignCell {
  std::string target;
  std::string item;
  auto operator<=>(const CampaignCell&) const = default;
};

/// JSON on one line, as it would be read back from a store.
using CampaignResults = std::map<CampaignCell, std::string>;

/// Where results are kept. Those that it has are not made again.
class CampaignStore {
 public:
  virtual ~CampaignStore() = default;
  [[nodiscard]] virtual const CampaignResults& results() const = 0;
  /// When it returns, the result survives the end of this process. The first result of a cell stays: where
  /// there is one, of another process perhaps, results() has that afterwards.
  [[nodiscard]] virtual Status add(const CampaignCell& cell, std::string result) = 0;
  /// Cells that it has, so that they are made again. On an error it has all that it had.
  [[nodiscard]] virtual Status remove(std::span<const CampaignCell> cells) = 0;
  /// results() has what other processes have added meanwhile, too. What it had stays.
  [[nodiscard]] virtual Status refresh() { return {}; }
};

/// For campaigns that nobody resumes.
class MemoryStore final : public CampaignStore {
 public:
  [[nodiscard]] const CampaignResults& results() const override { return results_; }
  [[nodiscard]] Status add(const CampaignCell& cell, std::string result) override;
  [[nodiscard]] Status remove(std::span<const CampaignCell> cells) override;

 private:
  CampaignResults results_;
};

struct Campaign {
  std::vector<std::string> targets;
  /// Nothing: a source without end, which only a budget stops.
  std::optional<std::int64_t> items;
  std::function<std::string(std::int64_t item)> name_of;
  /// One result for each of these items on one target. The error is that of the target as a whole: nothing of
  /// it runs any more.
  std::function<Result<std::vector<nlohmann::json>>(std::size_t target, std::span<const std::int64_t> items)>
      check;
  CampaignBudget budget = {};
  std::function<double()> seconds;     ///< any clock that does not go back
  std::function<bool()> stopped = {};  ///< asked between batches
  /// How long a batch may take, so that little is lost with the process; nothing: all of a target at once.
  std::optional<double> batch_seconds = {};
};

struct CampaignOutcome {
  bool finished = false;                     ///< every cell of every target without an error has its result
  std::vector<std::optional<Error>> errors;  ///< by target
};

/// Of a batch of a campaign that can be resumed: so much is lost with the process.
inline constexpr double resumable_batch_seconds = 4.0;

/// Under what the result is kept: the names, with bytes that are not UTF-8 as \xNN.
[[nodiscard]] CampaignCell cell_of(const Campaign& campaign, std::size_t target, std::int64_t item);

/// A campaign batch by batch, for those that do something else in between: they check the cells, and neither
/// `check` nor `stopped` is called.
class CampaignRun {
 public:
  /// Both must outlive it.
  CampaignRun(const Campaign& campaign, CampaignStore& store);

  /// The next cells that have no result, all of one target; nothing when all are done or the budget is used
  /// up.
  [[nodiscard]] std::optional<CampaignBatch> next() { return schedule_.next(campaign_.seconds()); }
  /// Keeps a result for each item. Errors: those of the store.
  [[nodiscard]] Status done(const CampaignBatch& batch, std::span<const nlohmann::json> results);
  /// Nothing more of this target.
  void give_up(std::size_t target) { schedule_.give_up(target); }

  [[nodiscard]] CampaignStep step(std::size_t target) const { return schedule_.step(target); }
  /// Whether every cell has its result, but for targets that were given up.
  [[nodiscard]] bool finished() const { return schedule_.finished(); }

 private:
  const Campaign& campaign_;
  CampaignStore& store_;
  CampaignSchedule schedule_;
};

/// Runs the cells that the store does not have. Errors: those of the store.
[[nodiscard]] Result<CampaignOutcome> run_campaign(const Campaign& campaign, CampaignStore& store,
                                                   const CampaignProgress& progress);

}  // namespace driftscope
