#include "native/cli/study_outlook.hpp"

#include <fmt/format.h>

namespace driftscope {

std::vector<std::vector<std::int64_t>> StudyOutlook::samples() const {
  std::vector<std::vector<std::int64_t>> samples;
  for (const StudyFiles::Subject& subject : files.subjects) {
    samples.emplace_back();
    for (const GivenDataset& dataset : subject.data) samples.back().push_back(dataset.samples);
  }
  return samples;
}

std::string StudyOutlook::title(const StudyCell& cell) const {
  const StudySubject& subject = files.subjects[cell.subject].subject;
  std::string what;
  switch (cell.task) {
    case StudyTask::times: break;
    case StudyTask::answers: what = ", " + subject.data[cell.of].name; break;
    case StudyTask::attack: what = ", " + study.attacks[cell.of].name; break;
    case StudyTask::adversarials: what = ", making " + study.attacks[cell.of].name; break;
    case StudyTask::layers: what = ", layers " + study.layers[cell.of].name; break;
  }
  return fmt::format("{}: {}{}", study.targets[cell.target], subject.name(), what);
}

std::size_t StudyOutlook::base_of(std::size_t subject) const {
  while (!files.subjects[subject].subject.is_base()) --subject;
  return subject;
}

Adversarials StudyOutlook::made_for(const StudyCell& cell, const StudyResults& results) const {
  const StudySubject& subject = files.subjects[cell.subject].subject;
  if (cell.task != StudyTask::answers || cell.of < subject.own_data()) return {};
  return results.adversarials.at({base_of(cell.subject), subject.attacks[cell.of - subject.own_data()]});
}

std::optional<double> StudyOutlook::seconds_left(const StudySchedule& schedule, const StudyResults& results,
                                                 const StudyPaces& paces) const {
  double seconds = 0.0;
  const auto add = [&](const StudyCell& series, std::int64_t count) {
    const auto own = paces.seconds_of(series, count);
    if (own) seconds += *own;
    return own.has_value();
  };
  for (std::size_t s = 0; s < files.subjects.size(); ++s)
    for (std::size_t t = 0; t < files.targets.size(); ++t) {
      if (!add({.task = StudyTask::times, .subject = s, .target = t},
               schedule.sessions_left(results, {s, t})))
        return {};
      for (std::size_t d = 0; d < files.subjects[s].subject.data.size(); ++d)
        if (!add({.task = StudyTask::answers, .subject = s, .target = t, .of = d},
                 schedule.answers_left(results, {s, d, t})))
          return {};
      for (std::size_t a = 0; a < study.attacks.size(); ++a) {
        const bool transfer = study.attacks[a].transfer;
        if (transfer && making_target(study, study.attacks[a]) != t) continue;
        if (!add({.task = transfer ? StudyTask::adversarials : StudyTask::attack,
                  .subject = s,
                  .target = t,
                  .of = a},
                 schedule.attacks_left(results, {s, a, t})))
          return {};
      }
    }
  return seconds;
}

}  // namespace driftscope
