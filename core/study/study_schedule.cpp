#include "core/study/study_schedule.hpp"

#include <algorithm>

namespace driftscope {
namespace {

constexpr std::int64_t default_repetitions = 3;
constexpr std::int64_t growth = 4;

constexpr std::int64_t default_attacked = 100;

/// Samples that there are after this round.
std::int64_t quota(int round, std::int64_t samples = first_round_samples) {
  for (int i = 0; i < round && samples < (std::int64_t{1} << 40); ++i) samples *= growth;
  return samples;
}

const Answers& of(const StudyResults& results, const AnswersKey& key) {
  static const Answers none;
  const auto found = results.answers.find(key);
  return found == results.answers.end() ? none : found->second;
}
const AttackResult& of(const StudyResults& results, const AttackKey& key) {
  static const AttackResult none;
  const auto found = results.attacks.find(key);
  return found == results.attacks.end() ? none : found->second;
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
  const std::vector<StudySubject> subjects = subjects_of(study);
  for (std::size_t s = 0; s < samples_.size(); ++s) {
    attacked_.emplace_back();
    for (const documents::StudyAttack& attack : study.attacks) {
      const bool here = subjects[s].variant == StudySubject::base_variant &&
                        std::ranges::find(attack.models, subjects[s].model) != attack.models.end();
      attacked_.back().push_back(
          here ? std::min(samples_[s].front(), attack.samples.value_or(default_attacked)) : 0);
    }
  }
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
    for (std::size_t a = 0; a < attacked_[s].size(); ++a) {
      const AttackResult& attack = of(results, AttackKey{s, a, target});
      const std::int64_t wanted = std::min(quota(round, first_round_attacks), attacked_[s][a]);
      if (!attack.error && attack.sum.samples < wanted)
        return StudyCell{.subject = s,
                         .target = target,
                         .attack = a,
                         .begin = attack.sum.samples,
                         .samples = wanted - attack.sum.samples};
    }
  }
  return {};
}

std::optional<StudyCell> StudySchedule::next(const StudyResults& results) const {
  std::int64_t most = first_round_samples;
  for (const std::vector<std::int64_t>& of_subject : samples_)
    for (const std::int64_t count : of_subject) most = std::max(most, count);
  std::int64_t most_attacked = 0;
  for (const std::vector<std::int64_t>& of_subject : attacked_)
    for (const std::int64_t count : of_subject) most_attacked = std::max(most_attacked, count);
  for (int round = 0;; ++round) {
    for (std::size_t t = 0; t < targets_; ++t)
      if (const auto cell = next_of_target(results, t, round)) return cell;
    if (quota(round) >= most && quota(round, first_round_attacks) >= most_attacked &&
        round + 1 >= repetitions_)
      return {};
  }
}

StudySchedule::Amount StudySchedule::total() const {
  Amount amount;
  for (const std::vector<std::int64_t>& of_subject : samples_) {
    for (const std::int64_t count : of_subject) amount.samples += count * static_cast<std::int64_t>(targets_);
    amount.measurements += repetitions_ * static_cast<std::int64_t>(targets_);
  }
  for (const std::vector<std::int64_t>& of_subject : attacked_)
    for (const std::int64_t count : of_subject) amount.attacks += count * static_cast<std::int64_t>(targets_);
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
      for (std::size_t a = 0; a < attacked_[s].size(); ++a) {
        const AttackResult& attack = of(results, AttackKey{s, a, t});
        amount.attacks += attack.error ? attacked_[s][a] : attack.sum.samples;
      }
    }
  return amount;
}

}  // namespace driftscope
