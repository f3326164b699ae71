#include "core/study/study_results.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"

namespace driftscope {
namespace {

using nlohmann::ordered_json;

Error damaged(const CampaignCell& cell, const std::string& why) {
  return bad_input(fmt::format("the result of {} on {} is damaged: {}; remove its line to have it run again",
                               in_quotes(cell.item), in_quotes(cell.target), why));
}

/// Whether it has failed: then `error` is set, which of a cell without failure stays as it was.
Result<bool> take_failure(const ordered_json& value, std::optional<std::string>& error) {
  DRIFTSCOPE_TRY(std::optional<std::string> failed, failure_in(value));
  if (!failed) return false;
  error = std::move(failed);
  return true;
}

/// The parts that follow each other from `end` on, which `append` takes and moves `end` behind.
template <class Part, class Append>
void take_parts(std::map<std::int64_t, Part>& waiting, std::int64_t& end, const Append& append) {
  for (auto part = waiting.find(end); part != waiting.end(); part = waiting.find(end)) {
    end += append(part->second);
    waiting.erase(part);
  }
}

template <class T>
void append_all(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

std::int64_t Answers::correct() const {
  std::int64_t right = 0;
  for (std::size_t i = 0; i < predictions.size(); ++i) right += predictions[i] == labels[i] ? 1 : 0;
  return right;
}

StudyLedger::StudyLedger(const documents::Study& study, const std::vector<std::string>& targets) {
  for (std::size_t t = 0; t < targets.size(); ++t) targets_[targets[t]] = t;
  for (const documents::StudyAttack& attack : study.attacks) making_.push_back(making_target(study, attack));
  const std::vector<StudySubject> subjects = subjects_of(study);
  results_.bytes.assign(subjects.size(), -1);
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    const StudySubject& subject = subjects[s];
    for (std::size_t d = 0; d < subject.data.size(); ++d)
      places_[answers_name(subject, subject.data[d])] = AnswersOf{s, d};
    places_[times_name(subject)] = TimesOf{s};
    if (!subject.is_base()) continue;
    for (std::size_t a = 0; a < study.attacks.size(); ++a) {
      if (study.attacks[a].transfer)
        places_[adversarials_name(subject.model, study.attacks[a])] = AdversarialsKey{s, a};
      else
        places_[attack_name(subject, study.attacks[a])] = AttackOf{s, a};
    }
  }
  for (std::size_t l = 0; l < study.layers.size(); ++l) places_[layers_name(study.layers[l])] = LayersOf{l};
}

Status StudyLedger::add(const CampaignCell& cell, std::string_view result) {
  const auto target = targets_.find(cell.target);
  const CellName name = split_cell(cell.item);
  const auto place = places_.find(name.name);
  if (target == targets_.end() || place == places_.end() || name.number < 0) return {};
  const ordered_json value = ordered_json::parse(result, nullptr, false);
  if (!value.is_object()) return damaged(cell, "no JSON object");
  number_ = name.number;
  const Status added =
      std::visit([&](const auto& of) { return add_to(of, target->second, value); }, place->second);
  return added.ok() ? added : damaged(cell, added.error().message);
}

Status StudyLedger::add_all(const CampaignResults& cells) {
  for (const auto& [cell, result] : cells) DRIFTSCOPE_CHECK(add(cell, result));
  return {};
}

Status StudyLedger::add_to(const AnswersOf& place, std::size_t target, const ordered_json& value) {
  const AnswersKey key{place.subject, place.data, target};
  Answers& answers = results_.answers[key];
  DRIFTSCOPE_TRY(const bool failed, take_failure(value, answers.error));
  if (failed) return {};
  AnswersPart part;
  DRIFTSCOPE_CHECK(read_result(value, part));
  answers_[key][part.begin] = std::move(part);
  std::int64_t end = answers.samples();
  take_parts(answers_[key], end, [&](const AnswersPart& one) {
    append_all(answers.labels, one.labels);
    append_all(answers.predictions, one.predictions);
    answers.outputs_kept = answers.outputs_kept && !one.outputs.empty();
    if (answers.outputs_kept)
      append_all(answers.outputs, one.outputs);
    else
      answers.outputs.clear();
    return std::ssize(one.predictions);
  });
  return {};
}

Status StudyLedger::add_to(const AttackOf& place, std::size_t target, const ordered_json& value) {
  const AttackKey key{place.subject, place.attack, target};
  AttackResult& result = results_.attacks[key];
  DRIFTSCOPE_TRY(const bool failed, take_failure(value, result.error));
  if (failed) return {};
  AttackPart part;
  DRIFTSCOPE_CHECK(read_result(value, part));
  attacks_[key][part.begin] = part;
  AttackPart& sum = result.sum;
  take_parts(attacks_[key], sum.samples, [&](const AttackPart& one) {
    sum.attacked += one.attacked;
    sum.successes += one.successes;
    sum.queries += one.queries;
    return one.samples;
  });
  return {};
}

Status StudyLedger::add_to(const AdversarialsKey& key, std::size_t target, const ordered_json& value) {
  if (target != making_[key.attack]) return {};
  Adversarials& all = results_.adversarials[key];
  DRIFTSCOPE_TRY(const bool failed, take_failure(value, all.error));
  if (failed) return {};
  AdversarialsPart part;
  DRIFTSCOPE_CHECK(read_result(value, part));
  adversarials_[key][part.begin] = std::move(part);
  take_parts(adversarials_[key], all.looked_at, [&](const AdversarialsPart& one) {
    append_all(all.originals, one.originals);
    all.successes += one.successes;
    all.seconds += one.seconds;
    all.parts.push_back(one);
    return one.samples;
  });
  return {};
}

Status StudyLedger::add_to(const TimesOf& place, std::size_t target, const ordered_json& value) {
  const TimesKey key{place.subject, target};
  Times& times = results_.times[key];
  DRIFTSCOPE_TRY(const bool failed, take_failure(value, times.error));
  if (failed) return {};
  SessionTimes session;
  DRIFTSCOPE_CHECK(read_result(value, session));
  times_[key][number_] = std::move(session);
  std::int64_t next = std::ssize(times.sessions) + 1;
  take_parts(times_[key], next, [&](const SessionTimes& one) {
    times.sessions.push_back(one);
    return std::int64_t{1};
  });
  return {};
}

Status StudyLedger::add_to(const LayersOf& place, std::size_t target, const ordered_json& value) {
  LayersResult& result = results_.layers[{place.layers, target}];
  DRIFTSCOPE_TRY(const bool failed, take_failure(value, result.error));
  if (failed) return {};
  return read_result(value, result.values.emplace());
}

Result<StudyResults> read_study_results(const documents::Study& study,
                                        const std::vector<std::string>& targets,
                                        const CampaignResults& cells) {
  StudyLedger ledger(study, targets);
  DRIFTSCOPE_CHECK(ledger.add_all(cells));
  return std::move(ledger).take();
}

std::vector<CampaignCell> failed_cells(const CampaignResults& cells) {
  std::vector<CampaignCell> failed;
  for (const auto& [cell, result] : cells) {
    const ordered_json value = ordered_json::parse(result, nullptr, false);
    if (value.is_object() && value.contains("error")) failed.push_back(cell);
  }
  return failed;
}

}  // namespace driftscope
