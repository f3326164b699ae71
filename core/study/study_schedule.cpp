#include "core/study/study_schedule.hpp"

#include <algorithm>

namespace driftscope {
namespace {

constexpr std::int64_t default_repetitions = 3;
constexpr std::int64_t growth = 4;

/// Samples that a data set has after this round.
std::int64_t quota(int round) {
  std::int64_t samples = first_round_samples;
  for (int i = 0; i < round && samples < (std::int64_t{1} << 40); ++i) samples *= growth;
  return samples;
}

const Answers& of(const StudyResults& results, const AnswersKey& key) {
  static const Answers none;
  const auto found = results.answers.find(key);
  return found == results.answers.end() ? none : found->second;
}
const Times& of(const StudyResults& results, const TimesKey& key) {
  static const Times none;
  const auto found = results.times.find(key);
  return found == results.times.end() ? none : found->second;
}

}  // namespace

StudySchedule::StudySchedule(const documents::Study& study, std::vector<std::vector<std::int64_t>> samples)
    : targets_(study.targets.size()),
      repetitions_(study.repetitions.value_or(default_repetitions)),
      samples_(std::move(samples)) {
  for (std::vector<std::int64_t>& of_subject : samples_)
    for (std::int64_t& count : of_subject) count = std::min(count, study.samples.value_or(count));
}

std::optional<StudyCell> StudySchedule::next_of_target(const StudyResults& results, std::size_t target,
                                                       int round) const {
  for (std::size_t s = 0; s < samples_.size(); ++s) {
    const Times& times = of(results, TimesKey{s, target});
    const std::int64_t measured = std::ssize(times.sessions);
    if (!times.error && measured < std::min<std::int64_t>(repetitions_, round + 1))
      return StudyCell{.subject = s, .target = target, .repetition = measured + 1};
    for (std::size_t d = 0; d < samples_[s].size(); ++d) {
      const Answers& answers = of(results, AnswersKey{s, d, target});
      const std::int64_t wanted = std::min(quota(round), samples_[s][d]);
      if (!answers.error && answers.samples() < wanted)
        return StudyCell{.subject = s,
                         .target = target,
                         .data = d,
                         .begin = answers.samples(),
                         .samples = wanted - answers.samples()};
    }
  }
  return {};
}

std::optional<StudyCell> StudySchedule::next(const StudyResults& results) const {
  std::int64_t most = first_round_samples;
  for (const std::vector<std::int64_t>& of_subject : samples_)
    for (const std::int64_t count : of_subject) most = std::max(most, count);
  for (int round = 0;; ++round) {
    for (std::size_t t = 0; t < targets_; ++t)
      if (const auto cell = next_of_target(results, t, round)) return cell;
    if (quota(round) >= most && round + 1 >= repetitions_) return {};
  }
}

StudySchedule::Amount StudySchedule::total() const {
  Amount amount;
  for (const std::vector<std::int64_t>& of_subject : samples_) {
    for (const std::int64_t count : of_subject) amount.samples += count * static_cast<std::int64_t>(targets_);
    amount.measurements += repetitions_ * static_cast<std::int64_t>(targets_);
  }
  return amount;
}

StudySchedule::Amount StudySchedule::done(const StudyResults& results) const {
  Amount amount;
  for (std::size_t t = 0; t < targets_; ++t)
    for (std::size_t s = 0; s < samples_.size(); ++s) {
      const Times& times = of(results, TimesKey{s, t});
      amount.measurements += times.error ? repetitions_ : std::ssize(times.sessions);
      for (std::size_t d = 0; d < samples_[s].size(); ++d) {
        const Answers& answers = of(results, AnswersKey{s, d, t});
        amount.samples += answers.error ? samples_[s][d] : answers.samples();
      }
    }
  return amount;
}

}  // namespace driftscope
