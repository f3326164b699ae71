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

template <class Key, class Value>
const Value& of(const std::map<Key, Value>& results, const Key& key) {
  static const Value none;
  const auto found = results.find(key);
  return found == results.end() ? none : found->second;
}

}  // namespace

StudySchedule::StudySchedule(const documents::Study& study, std::vector<std::vector<std::int64_t>> samples)
    : targets_(study.targets.size()),
      repetitions_(study.repetitions.value_or(default_repetitions)),
      subjects_(subjects_of(study)),
      samples_(std::move(samples)) {
  for (std::vector<std::int64_t>& of_subject : samples_)
    for (std::int64_t& count : of_subject) count = std::min(count, study.samples.value_or(count));
  for (const documents::StudyAttack& attack : study.attacks) {
    attacks_.push_back({attack.transfer, making_target(study, attack)});
    for (const std::string& target : study.targets)
      attacks_.back().here.push_back(attack.transfer || attacks_target(attack, target));
  }
  for (std::size_t s = 0; s < subjects_.size(); ++s) {
    bases_.push_back(subjects_[s].is_base() ? s : bases_.back());
    attacked_.emplace_back();
    for (const documents::StudyAttack& attack : study.attacks) {
      const bool here = subjects_[s].is_base() && attacks_model(attack, subjects_[s].model);
      attacked_.back().push_back(
          here ? std::min(samples_[s].front(), attack.samples.value_or(default_attacked)) : 0);
    }
  }
  for (const documents::PublishedLayers& layers : study.layers)
    layers_.push_back(static_cast<std::size_t>(
        std::ranges::find(subjects_, layers.model, &StudySubject::model) - subjects_.begin()));
}

AdversarialsKey StudySchedule::made_for(std::size_t subject, std::size_t data) const {
  return {bases_[subject], subjects_[subject].attacks[data - subjects_[subject].own_data()]};
}

std::int64_t StudySchedule::samples_of(const StudyResults& results, std::size_t subject,
                                       std::size_t data) const {
  if (data < subjects_[subject].own_data()) return samples_[subject][data];
  return of(results.adversarials, made_for(subject, data)).made();
}

std::optional<StudyCell> StudySchedule::next_answers(const StudyResults& results, const AnswersKey& key,
                                                     int round, const Skip& skip) const {
  const Answers& answers = of(results.answers, key);
  const std::int64_t wanted = std::min(quota(round), samples_of(results, key.subject, key.data));
  if (answers.error || answers.samples() >= wanted) return {};
  const StudyCell cell{.task = StudyTask::answers,
                       .subject = key.subject,
                       .target = key.target,
                       .of = key.data,
                       .begin = answers.samples(),
                       .samples = wanted - answers.samples()};
  if (skip && skip(cell)) return {};
  return cell;
}

std::optional<StudyCell> StudySchedule::next_attack(const StudyResults& results, std::size_t attack,
                                                    std::size_t target, int round, const Skip& skip) const {
  const bool transfer = attacks_[attack].transfer;
  const bool made_here = transfer ? attacks_[attack].making == target : attacks_[attack].here[target];
  for (std::size_t s = 0; s < subjects_.size(); ++s) {
    const AttackResult& own = of(results.attacks, AttackKey{s, attack, target});
    const Adversarials& made = of(results.adversarials, AdversarialsKey{s, attack});
    const std::int64_t begin = transfer ? made.looked_at : own.sum.samples;
    const std::int64_t wanted = std::min(quota(round, first_round_attacks), attacked_[s][attack]);
    const StudyCell cell{.task = transfer ? StudyTask::adversarials : StudyTask::attack,
                         .subject = s,
                         .target = target,
                         .of = attack,
                         .begin = begin,
                         .samples = wanted - begin};
    if (made_here && !(transfer ? made.error : own.error) && begin < wanted && !(skip && skip(cell)))
      return cell;
    for (std::size_t d = subjects_[s].own_data(); d < subjects_[s].data.size(); ++d)
      if (made_for(s, d).attack == attack)
        if (const auto answers = next_answers(results, {s, d, target}, round, skip)) return answers;
  }
  return {};
}

std::optional<StudyCell> StudySchedule::next_of_target(const StudyResults& results, std::size_t target,
                                                       int round, Phase phase, const Skip& skip) const {
  const auto free = [&](const StudyCell& cell) { return !skip || !skip(cell); };
  for (std::size_t s = 0; s < subjects_.size(); ++s)
    for (std::size_t d = 0; d < subjects_[s].own_data(); ++d)
      if (phase == (d == 0 ? Phase::first_answers : Phase::other_answers))
        if (const auto cell = next_answers(results, {s, d, target}, round, skip)) return cell;
  for (std::size_t s = 0; s < subjects_.size() && phase == Phase::times; ++s) {
    const Times& times = of(results.times, TimesKey{s, target});
    const std::int64_t measured = std::ssize(times.sessions);
    const StudyCell cell{
        .task = StudyTask::times, .subject = s, .target = target, .repetition = measured + 1};
    if (!times.error && measured < std::min<std::int64_t>(repetitions_, round + 1) && free(cell)) return cell;
  }
  for (std::size_t l = 0; l < layers_.size() && phase == Phase::layers; ++l) {
    const LayersResult& layers = of(results.layers, LayersKey{l, target});
    const StudyCell cell{.task = StudyTask::layers, .subject = layers_[l], .target = target, .of = l};
    if (!layers.error && !layers.values && free(cell)) return cell;
  }
  return {};
}

std::optional<StudyCell> StudySchedule::next(const StudyResults& results, const Skip& skip) const {
  std::int64_t most = first_round_samples;
  for (const std::vector<std::int64_t>& of_subject : samples_)
    for (const std::int64_t count : of_subject) most = std::max(most, count);
  std::int64_t most_attacked = 0;
  for (const std::vector<std::int64_t>& of_subject : attacked_)
    for (const std::int64_t count : of_subject) most_attacked = std::max(most_attacked, count);
  for (int round = 0;; ++round) {
    for (const Phase phase : {Phase::first_answers, Phase::times, Phase::layers, Phase::other_answers})
      for (std::size_t t = 0; t < targets_; ++t)
        if (const auto cell = next_of_target(results, t, round, phase, skip)) return cell;
    for (std::size_t a = 0; a < attacks_.size(); ++a)
      for (std::size_t t = 0; t < targets_; ++t)
        if (const auto cell = next_attack(results, a, t, round, skip)) return cell;
    if (quota(round) >= most && quota(round, first_round_attacks) >= most_attacked &&
        round + 1 >= repetitions_)
      return {};
  }
}

std::int64_t StudySchedule::sessions_left(const StudyResults& results, const TimesKey& key) const {
  const Times& times = of(results.times, key);
  return times.error ? 0 : std::max<std::int64_t>(0, repetitions_ - std::ssize(times.sessions));
}

std::int64_t StudySchedule::answers_left(const StudyResults& results, const AnswersKey& key) const {
  const Answers& answers = of(results.answers, key);
  if (answers.error) return 0;
  if (key.data < subjects_[key.subject].own_data())
    return std::max<std::int64_t>(0, samples_[key.subject][key.data] - answers.samples());
  // What will be made of the samples that were not looked at is not known: at most one of each.
  const AdversarialsKey by = made_for(key.subject, key.data);
  const Adversarials& made = of(results.adversarials, by);
  const std::int64_t coming =
      made.error ? 0 : std::max<std::int64_t>(0, attacked_[by.subject][by.attack] - made.looked_at);
  return made.made() - answers.samples() + coming;
}

std::int64_t StudySchedule::attacks_left(const StudyResults& results, const AttackKey& key) const {
  const std::int64_t all = attacked_[key.subject][key.attack];
  if (attacks_[key.attack].transfer) {
    const Adversarials& made = of(results.adversarials, AdversarialsKey{key.subject, key.attack});
    return made.error ? 0 : std::max<std::int64_t>(0, all - made.looked_at);
  }
  const AttackResult& attack = of(results.attacks, key);
  if (!attacks_[key.attack].here[key.target]) return 0;
  return attack.error ? 0 : std::max<std::int64_t>(0, all - attack.sum.samples);
}

StudySchedule::Amount StudySchedule::total() const {
  const auto targets = static_cast<std::int64_t>(targets_);
  Amount amount{.measurements = std::ssize(layers_) * targets};
  for (std::size_t s = 0; s < subjects_.size(); ++s) {
    amount.measurements += repetitions_ * targets;
    for (const std::int64_t count : samples_[s]) amount.samples += count * targets;
    for (const std::size_t a : subjects_[s].attacks) amount.samples += attacked_[bases_[s]][a] * targets;
    for (std::size_t a = 0; a < attacks_.size(); ++a)
      amount.attacks +=
          attacked_[s][a] * (attacks_[a].transfer ? 1 : std::ranges::count(attacks_[a].here, true));
  }
  return amount;
}

StudySchedule::Amount StudySchedule::done(const StudyResults& results) const {
  Amount amount = total();
  for (std::size_t t = 0; t < targets_; ++t) {
    for (std::size_t s = 0; s < subjects_.size(); ++s) {
      amount.measurements -= sessions_left(results, {s, t});
      for (std::size_t d = 0; d < subjects_[s].data.size(); ++d)
        amount.samples -= answers_left(results, {s, d, t});
      for (std::size_t a = 0; a < attacks_.size(); ++a)
        if (!attacks_[a].transfer || t == 0) amount.attacks -= attacks_left(results, {s, a, t});
    }
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const LayersResult& layers = of(results.layers, LayersKey{l, t});
      if (!layers.error && !layers.values) --amount.measurements;
    }
  }
  return amount;
}

}  // namespace driftscope
