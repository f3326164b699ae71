#include "native/cli/study_paces.hpp"

#include <algorithm>
#include <cmath>

namespace driftscope {
namespace {

/// How long one cell may take, roughly: so much is lost with the process.
constexpr double cell_seconds = 8.0;
constexpr std::int64_t first_samples = 8;
constexpr std::int64_t first_attacked = 2;
constexpr std::int64_t most_growth = 8;

}  // namespace

bool is_attack(const StudyCell& cell) {
  return cell.task == StudyTask::attack || cell.task == StudyTask::adversarials;
}

std::string cell_item(const documents::Study& study, const StudySubject& subject, const StudyCell& cell) {
  const auto of_samples = [&](const std::string& name) {
    return samples_cell(name, cell.begin, cell.samples);
  };
  switch (cell.task) {
    case StudyTask::times: return numbered_cell(times_name(subject), cell.repetition);
    case StudyTask::answers: return of_samples(answers_name(subject, subject.data[cell.of]));
    case StudyTask::attack: return of_samples(attack_name(subject, study.attacks[cell.of]));
    case StudyTask::adversarials: return of_samples(adversarials_name(subject.model, study.attacks[cell.of]));
    case StudyTask::layers: break;
  }
  const documents::PublishedLayers& wanted = study.layers[cell.of];
  return numbered_cell(layers_name(wanted), wanted.sample.value_or(0));
}

void StudyPaces::add(const StudyCell& cell, double seconds) {
  paces_[key_of(cell)] = {std::max<std::int64_t>(1, cell.samples), seconds};
}

std::int64_t StudyPaces::samples_at_a_time(const StudyCell& cell) const {
  if (cell.task != StudyTask::answers && !is_attack(cell)) return 1;
  const auto pace = paces_.find(key_of(cell));
  if (pace == paces_.end()) return std::min(is_attack(cell) ? first_attacked : first_samples, cell.samples);
  const auto [samples, seconds] = pace->second;
  const double fitting = static_cast<double>(samples) * cell_seconds / std::max(seconds, 1e-3);
  const std::int64_t most = samples * most_growth;
  return std::min(cell.samples, fitting >= static_cast<double>(most)
                                    ? most
                                    : std::max<std::int64_t>(1, std::llround(std::floor(fitting))));
}

std::optional<double> StudyPaces::seconds_of(const StudyCell& series, std::int64_t count) const {
  if (count <= 0) return 0.0;
  const auto pace = paces_.find(key_of(series));
  const std::optional<double> each = pace == paces_.end()
                                         ? mean_seconds(series)
                                         : pace->second.seconds / static_cast<double>(pace->second.count);
  if (!each) return {};
  return *each * static_cast<double>(count);
}

std::optional<double> StudyPaces::mean_seconds(const StudyCell& series) const {
  Pace same_target, any;
  for (const auto& [key, pace] : paces_) {
    if (std::get<StudyTask>(key) != series.task) continue;
    const double each = pace.seconds / static_cast<double>(pace.count);
    any.seconds += each, ++any.count;
    if (std::get<1>(key) == series.target) same_target.seconds += each, ++same_target.count;
  }
  const Pace& from = same_target.count > 0 ? same_target : any;
  if (from.count == 0) return {};
  return from.seconds / static_cast<double>(from.count);
}

}  // namespace driftscope
