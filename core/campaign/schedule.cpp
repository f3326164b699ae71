#include "core/campaign/schedule.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace driftscope {
namespace {

// Of a source without end: as many on one target before the next is opened.
constexpr std::int64_t items_per_round = 64;

// Of a batch, however quick its cells are.
constexpr std::int64_t most_items = 1 << 16;

}  // namespace

CampaignSchedule::CampaignSchedule(Plan plan, double now)
    : plan_(std::move(plan)), start_(now), paces_(plan_.targets), left_(plan_.targets, 0) {
  for (std::size_t target = 0; plan_.items && target < plan_.targets; ++target)
    for (std::int64_t item = 0; item < *plan_.items; ++item)
      ++(plan_.known(target, item) ? done_ : left_[target]);
}

std::int64_t CampaignSchedule::round_end() const {
  return plan_.items.value_or((round_ + 1) * items_per_round);
}

std::int64_t CampaignSchedule::batch_limit(std::size_t target) const {
  auto limit = plan_.batch_seconds ? paces_[target].batch : std::numeric_limits<std::int64_t>::max();
  if (plan_.budget.cells) limit = std::min(limit, std::max<std::int64_t>(0, *plan_.budget.cells - ran_));
  return limit;
}

std::optional<CampaignBatch> CampaignSchedule::next(double now) {
  const bool any = std::ranges::any_of(paces_, [](const Pace& pace) { return !pace.given_up; });
  if (!any || plan_.items.value_or(1) <= 0) finished_ = true;
  if (finished_ || (plan_.budget.seconds && now - start_ >= *plan_.budget.seconds)) return std::nullopt;
  CampaignBatch batch;
  while (true) {
    batch.target = target_;
    const std::int64_t limit = paces_[target_].given_up ? 0 : batch_limit(target_);
    for (; item_ < round_end() && !paces_[target_].given_up; ++item_) {
      if (plan_.known(target_, item_)) {
        if (!plan_.items) ++done_;  // else counted at the beginning
        continue;
      }
      if (std::ssize(batch.items) >= limit) break;
      batch.items.push_back(item_);
    }
    if (!batch.items.empty()) break;
    if (!paces_[target_].given_up && item_ < round_end()) return std::nullopt;  // the budget of cells
    if (++target_ == plan_.targets) {
      if (plan_.items) {
        finished_ = true;
        return std::nullopt;
      }
      target_ = 0;
      ++round_;
    }
    item_ = plan_.items ? 0 : round_ * items_per_round;
  }
  batch_start_ = now;
  return batch;
}

void CampaignSchedule::done(const CampaignBatch& batch, double now) {
  const std::int64_t count = std::ssize(batch.items);
  const double seconds = now - batch_start_;
  Pace& pace = paces_[batch.target];
  // A batch that was cut short says nothing of a longer one.
  if (plan_.batch_seconds && seconds * 2 < *plan_.batch_seconds && count >= pace.batch)
    pace.batch = std::min(most_items, pace.batch * 2);
  else if (plan_.batch_seconds && seconds > *plan_.batch_seconds)
    pace.batch = std::max<std::int64_t>(1, pace.batch / 2);
  // The first batch also opens the target (a browser): its time says little of a cell.
  if (std::exchange(pace.opened, true)) {
    pace.cells += count;
    pace.seconds += seconds;
  }
  left_[batch.target] -= count;
  done_ += count;
  ran_ += count;
}

void CampaignSchedule::give_up(std::size_t target) { paces_[target].given_up = true; }

CampaignStep CampaignSchedule::step(std::size_t target) const {
  CampaignStep step{target, done_, std::nullopt, std::nullopt};
  if (!plan_.items) return step;
  std::int64_t total = *plan_.items * static_cast<std::int64_t>(plan_.targets);
  for (std::size_t t = 0; t < paces_.size(); ++t) total -= paces_[t].given_up ? left_[t] : 0;
  step.total = total;
  Pace all;
  for (const Pace& pace : paces_) {
    all.cells += pace.cells;
    all.seconds += pace.seconds;
  }
  if (all.cells == 0) return step;
  double seconds = 0.0;
  for (std::size_t t = 0; t < paces_.size(); ++t) {
    if (paces_[t].given_up) continue;
    const Pace& pace = paces_[t].cells > 0 ? paces_[t] : all;  // the others' mean until it has run
    seconds += static_cast<double>(left_[t]) * pace.seconds / static_cast<double>(pace.cells);
  }
  step.seconds_left = seconds;
  return step;
}

}  // namespace driftscope
