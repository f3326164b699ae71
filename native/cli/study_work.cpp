#include "native/cli/study_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/attack/attack.hpp"
#include "core/compare/dataset_predictions.hpp"
#include "core/inputs/input_source.hpp"
#include "core/protocol/sample_run.hpp"
#include "core/study/layer_values.hpp"
#include "native/host/attack_run.hpp"
#include "native/host/host.hpp"

namespace driftscope {
namespace {

/// Outputs of a sample are kept up to so many numbers.
constexpr std::int64_t most_outputs = 1024;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

template <class T>
StudyWork::Outcome outcome_of(std::string item, const Result<T>& result) {
  return {std::move(item), result.ok() ? encode_result(*result) : encode_failure(result.error()),
          !result.ok(), 0.0};
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

StudyWork::Outcome StudyWork::run(const StudyCell& cell, const Adversarials& made,
                                  const TargetProgress& progress) {
  const auto begin = std::chrono::steady_clock::now();
  Outcome made_of_it = outcome(cell, made, progress);
  made_of_it.seconds = seconds_since(begin);
  return made_of_it;
}

StudyWork::Outcome StudyWork::outcome(const StudyCell& cell, const Adversarials& made,
                                      const TargetProgress& progress) {
  const StudyFiles::Subject& subject = files_.subjects[cell.subject];
  const Target& target = files_.targets[cell.target];
  const std::string item = cell_item(study_, subject.subject, cell);
  switch (cell.task) {
    case StudyTask::times: return outcome_of(item, times(cell, progress));
    case StudyTask::answers: return outcome_of(item, answer(cell, made, progress));
    case StudyTask::layers: return outcome_of(item, layers(cell, progress));
    case StudyTask::attack:
    case StudyTask::adversarials: break;
  }
  const documents::StudyAttack& attack = study_.attacks[cell.of];
  if (cell.task == StudyTask::attack)
    return outcome_of(item,
                      attack_target(subject, attack, target, cell.begin, cell.samples, options_, progress));
  return outcome_of(
      item, make_adversarials(files_, subject, attack, target, cell.begin, cell.samples, options_, progress));
}

Result<AnswersPart> StudyWork::answer(const StudyCell& cell, const Adversarials& made,
                                      const TargetProgress& progress) {
  const std::int64_t samples = cell.samples;
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
