#include "core/compare/level_search.hpp"

#include <algorithm>
#include <utility>

namespace driftscope {

const LevelOutcome* LevelSearch::outcome(std::size_t level) const {
  const auto& runs = tried_[level];
  if (runs.empty()) return nullptr;
  return &*std::ranges::max_element(runs, {}, &LevelOutcome::severity);
}

int LevelSearch::runs_like_it(std::size_t level) const {
  const LevelOutcome* const counts = outcome(level);
  return counts == nullptr ? 0 : static_cast<int>(std::ranges::count(tried_[level], *counts));
}

bool LevelSearch::flaky() const {
  for (std::size_t i = 0; i < tried_.size(); ++i)
    if (runs_like_it(i) != runs(i)) return true;
  return false;
}

std::optional<std::size_t> LevelSearch::middle_of_a_gap() const {
  std::optional<std::size_t> before;
  for (std::size_t i = 0; i < tried_.size(); ++i) {
    if (tried_[i].empty()) continue;
    if (before && i - *before > 1 && *outcome(*before) != *outcome(i)) return *before + (i - *before) / 2;
    before = i;
  }
  return std::nullopt;
}

std::optional<std::size_t> LevelSearch::one_to_repeat() const {
  const auto again = [&](std::size_t level) { return runs(level) < plan_.repeats; };
  if (flaky()) {
    int worst = 0;
    for (std::size_t i = 0; i < tried_.size(); ++i)
      if (runs(i) > 0) worst = std::max(worst, outcome(i)->severity);
    for (std::size_t i = 0; i < tried_.size(); ++i)
      if (runs(i) > 0 && outcome(i)->severity < worst && again(i)) return i;
  }
  for (const LevelTransition& found : transitions()) {
    const bool first = outcome(found.from)->severity <= outcome(found.to)->severity;
    const std::size_t better = first ? found.from : found.to;
    if (again(better)) return better;
  }
  return std::nullopt;
}

std::optional<std::size_t> LevelSearch::next() const {
  if (tried_.empty()) return std::nullopt;
  if (tried_.front().empty()) return 0;
  if (tried_.back().empty()) return tried_.size() - 1;
  if (plan_.every)
    for (std::size_t i = 0; i < tried_.size(); ++i)
      if (tried_[i].empty()) return i;
  if (const auto middle = middle_of_a_gap()) return middle;
  return one_to_repeat();
}

void LevelSearch::add(std::size_t level, LevelOutcome outcome) {
  tried_[level].push_back(std::move(outcome));
}

std::vector<LevelTransition> LevelSearch::transitions() const {
  std::vector<LevelTransition> found;
  for (std::size_t i = 1; i < tried_.size(); ++i)
    if (runs(i - 1) > 0 && runs(i) > 0 && *outcome(i - 1) != *outcome(i)) found.push_back({i - 1, i});
  return found;
}

}  // namespace driftscope
