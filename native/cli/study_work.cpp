#include "native/cli/study_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/attack/attack.hpp"
#include "core/compare/dataset_predictions.hpp"
#include "core/inputs/input_source.hpp"
#include "core/protocol/sample_run.hpp"
#include "core/study/layer_values.hpp"
#include "native/host/attack_run.hpp"
#include "native/host/host.hpp"

namespace driftscope {
namespace {

/// How long one cell may take, roughly: so much is lost with the process.
constexpr double cell_seconds = 8.0;
constexpr std::int64_t first_samples = 8;
constexpr std::int64_t first_attacked = 2;
constexpr std::int64_t most_growth = 8;
/// Outputs of a sample are kept up to so many numbers.
constexpr std::int64_t most_outputs = 1024;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

bool is_attack(const StudyCell& cell) {
  return cell.task == StudyTask::attack || cell.task == StudyTask::adversarials;
}

template <class T>
StudyWork::Outcome outcome_of(std::string item, const Result<T>& result) {
  return {std::move(item), result.ok() ? encode_result(*result) : encode_failure(result.error()),
          !result.ok()};
}

}  // namespace

TargetRunner& StudyWork::runner(const Target& target) {
  const std::lock_guard lock(mutex_);
  auto& one = runners_[target.host];
  if (one == nullptr) one = std::make_unique<TargetRunner>(options_);
  return *one;
}

void StudyWork::rest() {
  const std::lock_guard lock(mutex_);
  for (auto& [host, one] : runners_) one->rest();
}

Result<NamedInputs> StudyWork::sample(std::size_t subject, std::int64_t number) const {
  return slice_sample(files_.subjects[subject].data.front().stacked, number);
}

std::vector<std::string> StudyWork::hosts(const StudyCell& cell) const {
  std::vector<std::string> hosts = {files_.targets[cell.target].host};
  if (cell.task == StudyTask::layers) hosts.push_back(files_.targets[0].host);
  if (!is_attack(cell)) return hosts;
  const auto method = find_attack_method(study_.attacks[cell.of].method);
  if (method.ok() && (*method)->needs_gradients) hosts.push_back(AttackPlan().gradient_target.host);
  return hosts;
}

std::optional<double> StudyWork::seconds_each(const StudyCell& series) const {
  const std::lock_guard lock(mutex_);
  const auto pace = paces_.find(key_of(series));
  if (pace == paces_.end()) return {};
  return pace->second.seconds / static_cast<double>(pace->second.count);
}

std::optional<double> StudyWork::mean_seconds(const StudyCell& series) const {
  const std::lock_guard lock(mutex_);
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

/// As many as fit into cell_seconds by the last cell of this series.
std::int64_t StudyWork::samples_at_a_time(const StudyCell& cell) const {
  const std::int64_t first = is_attack(cell) ? first_attacked : first_samples;
  const std::lock_guard lock(mutex_);
  const auto pace = paces_.find(key_of(cell));
  if (pace == paces_.end()) return std::min(first, cell.samples);
  const auto [samples, seconds] = pace->second;
  const double fitting = static_cast<double>(samples) * cell_seconds / std::max(seconds, 1e-3);
  const std::int64_t most = samples * most_growth;
  return std::min(cell.samples, fitting >= static_cast<double>(most)
                                    ? most
                                    : std::max<std::int64_t>(1, std::llround(std::floor(fitting))));
}

StudyWork::Outcome StudyWork::run(const StudyCell& cell, const Adversarials& made,
                                  const TargetProgress& progress) {
  const StudyFiles::Subject& subject = files_.subjects[cell.subject];
  const Target& target = files_.targets[cell.target];
  const auto begin = std::chrono::steady_clock::now();
  const bool by_samples = cell.task == StudyTask::answers || is_attack(cell);
  const std::int64_t samples = by_samples ? samples_at_a_time(cell) : 1;
  const auto of_samples = [&](const std::string& name) { return samples_cell(name, cell.begin, samples); };
  Outcome outcome;
  switch (cell.task) {
    case StudyTask::times:
      outcome =
          outcome_of(numbered_cell(times_name(subject.subject), cell.repetition), times(cell, progress));
      break;
    case StudyTask::answers:
      outcome = outcome_of(of_samples(answers_name(subject.subject, subject.subject.data[cell.of])),
                           answer(cell, samples, made, progress));
      break;
    case StudyTask::attack: {
      const documents::StudyAttack& attack = study_.attacks[cell.of];
      outcome = outcome_of(of_samples(attack_name(subject.subject, attack)),
                           attack_target(subject, attack, target, cell.begin, samples, options_, progress));
      break;
    }
    case StudyTask::adversarials: {
      const documents::StudyAttack& attack = study_.attacks[cell.of];
      outcome = outcome_of(
          of_samples(adversarials_name(subject.subject.model, attack)),
          make_adversarials(files_, subject, attack, target, cell.begin, samples, options_, progress));
      break;
    }
    case StudyTask::layers: {
      const documents::PublishedLayers& wanted = study_.layers[cell.of];
      outcome =
          outcome_of(numbered_cell(layers_name(wanted), wanted.sample.value_or(0)), layers(cell, progress));
      break;
    }
  }
  const std::lock_guard lock(mutex_);
  paces_[key_of(cell)] = {samples, seconds_since(begin)};
  return outcome;
}

Result<AnswersPart> StudyWork::answer(const StudyCell& cell, std::int64_t samples, const Adversarials& made,
                                      const TargetProgress& progress) {
  const StudyFiles::Subject& subject = files_.subjects[cell.subject];
  const Target& target = files_.targets[cell.target];
  RunRequest request;
  request.model = &subject.model;
  request.plan.samples = samples;
  request.plan.capture = messages::Capture::outputs;
  request.stopped = stopped_;
  AnswersPart part;
  part.begin = cell.begin;
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < samples; ++i) chosen.push_back(cell.begin + i);
  const std::size_t own = subject.subject.own_data();
  if (cell.of < own) {
    const GivenDataset& dataset = subject.data[cell.of];
    DRIFTSCOPE_TRY(request.inputs, chosen_items(dataset.stacked, chosen));
    for (const std::int64_t place : chosen)
      part.labels.push_back(dataset.labels[static_cast<std::size_t>(place)]);
  } else {
    std::size_t base = cell.subject;
    while (!files_.subjects[base].subject.is_base()) --base;
    DRIFTSCOPE_TRY(request.inputs, kept_.inputs({base, subject.subject.attacks[cell.of - own]}, made, subject,
                                                cell.begin, samples));
    for (const std::int64_t place : chosen) {
      const std::int64_t original = made.originals[static_cast<std::size_t>(place)];
      part.labels.push_back(subject.data.front().labels[static_cast<std::size_t>(original)]);
    }
  }
  DRIFTSCOPE_TRY(const Trace trace, runner(target).run(target, request, progress));
  DRIFTSCOPE_TRY(part.predictions, predicted_classes(subject.model.graph, trace, samples, target.text()));
  const Tensor* const output =
      trace.find(subject.model.graph.values[subject.model.graph.outputs.front()].name);
  if (output != nullptr && output->dtype() == DType::float32 &&
      element_count(output->shape()) / samples <= most_outputs)
    for (const float value : output->values<float>()) part.outputs.push_back(value);
  return part;
}

Result<SessionTimes> StudyWork::times(const StudyCell& cell, const TargetProgress& progress) {
  const StudyFiles::Subject& subject = files_.subjects[cell.subject];
  const Target& target = files_.targets[cell.target];
  DRIFTSCOPE_TRY(NamedInputs inputs, sample(cell.subject, 0));
  rest();  // what is measured begins with the start of the browser, and nothing else is open
  if (target.host == default_host()) {
    progress("running", 0, 0);
    return measure_in_process(subject.model, inputs, target, options_);
  }
  return measure_session(subject.model, std::move(inputs), target, options_, stopped_, progress);
}

Result<Trace> StudyWork::all_values(const StudyCell& cell, const Target& target,
                                    const TargetProgress& progress) {
  RunRequest request;
  request.model = &files_.subjects[cell.subject].model;
  request.plan.capture = messages::Capture::all;
  request.stopped = stopped_;
  DRIFTSCOPE_TRY(request.inputs, sample(cell.subject, study_.layers[cell.of].sample.value_or(0)));
  return runner(target).run(target, request, progress);
}

Result<LayerValues> StudyWork::layers(const StudyCell& cell, const TargetProgress& progress) {
  const documents::PublishedLayers& wanted = study_.layers[cell.of];
  DRIFTSCOPE_TRY(const Trace there, all_values(cell, files_.targets[cell.target], progress));
  LayerValues values;
  if (cell.target != 0) {
    DRIFTSCOPE_TRY(const Trace base, all_values(cell, files_.targets[0], progress));
    values = compare_layers(base, there);
  }
  values.sample = wanted.sample.value_or(0);
  for (const documents::PublishedValues& layer : wanted.layers) {
    DRIFTSCOPE_TRY(auto some, chosen_values(files_.subjects[cell.subject].model.graph, layer, there));
    values.values.push_back(std::move(some));
  }
  return values;
}

}  // namespace driftscope
