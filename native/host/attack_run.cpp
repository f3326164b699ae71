#include "native/host/attack_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/attack/separate_attacks.hpp"
#include "native/host/attack_host.hpp"

namespace driftscope {
namespace {

// The first samples that every target answers rightly.
Result<std::vector<std::int64_t>> right_everywhere(AttackHost& host, const AttackPlan& plan,
                                                   AttackReport& report) {
  std::vector<bool> right(static_cast<std::size_t>(plan.dataset->samples), true);
  for (const Target& target : plan.targets) {
    DRIFTSCOPE_TRY(const auto classes, host.original_classes(target));
    report.targets.push_back({target.text(), {}, 0});
    for (std::size_t i = 0; i < right.size(); ++i) {
      if (classes[i] == plan.dataset->labels[i])
        ++report.targets.back().correct;
      else
        right[i] = false;
    }
  }
  std::vector<std::int64_t> samples;
  for (std::size_t i = 0; i < right.size() && std::ssize(samples) < plan.samples; ++i)
    if (right[i]) samples.push_back(static_cast<std::int64_t>(i));
  return samples;
}

Result<AttackAnswer> answered(AttackHost& host, const AttackPlan& plan, const Target& target,
                              const AttackQuestion& question, std::span<const std::int64_t> labels) {
  AttackAnswer answer;
  if (question.asks == AttackAsks::classes) {
    DRIFTSCOPE_TRY(answer.classes, host.classes(target, question.values));
    return answer;
  }
  if (question.asks == AttackAsks::scores) {
    DRIFTSCOPE_TRY(answer.scores, host.scores(target, question.values));
    return answer;
  }
  std::vector<std::int64_t> asked;
  for (const std::size_t sample : question.samples) asked.push_back(labels[sample]);
  DRIFTSCOPE_TRY(answer.gradients,
                 host.gradients(plan.white_box ? target : plan.gradient_target, question.values, asked));
  return answer;
}

// Rounds the adversarials as files of 8 bits keep them, and asks again.
Status store_outcomes(AttackHost& host, const Target& target, std::span<const std::int64_t> labels,
                      std::vector<AttackOutcome>& outcomes) {
  std::vector<std::vector<float>> values;
  for (AttackOutcome& outcome : outcomes) {
    for (float& value : outcome.values) value = stored_in_8_bits(value);
    values.push_back(outcome.values);
  }
  DRIFTSCOPE_TRY(const auto classes, host.classes(target, values));
  for (std::size_t i = 0; i < outcomes.size(); ++i) outcomes[i].success = classes[i] != labels[i];
  return {};
}

Result<AnswerSeparation> separated(AttackHost& host, const AttackPlan& plan, const Target& from,
                                   const Target& to, const std::vector<float>& value, std::int64_t class_from,
                                   std::int64_t class_to) {
  DRIFTSCOPE_TRY(const Trace left, host.layers(from, value));
  DRIFTSCOPE_TRY(const Trace right, host.layers(to, value));
  const auto gradients = host.margin_gradients(value, class_from, class_to);
  const std::string why =
      gradients.ok() ? "the answer does not depend on a recorded layer" : gradients.error().message;
  const auto gradient_of = [&](const std::string& name) -> const Tensor* {
    return gradients.ok() ? gradients->find("grad/" + name) : nullptr;
  };
  ThreadPool threads(1);
  return separate_answers(plan.model->graph, plan.model->sha256, left, right, gradient_of, why, threads);
}

// The results of the attack on `from`, shown to `to`.
Status transfer(AttackHost& host, const AttackPlan& plan, std::size_t from, std::size_t to,
                std::span<const std::vector<float>> values, std::span<const std::int64_t> at_from,
                AttackReport& report) {
  const auto& outcomes = report.targets[from].outcomes;
  DRIFTSCOPE_TRY(const auto at_to, host.classes(plan.targets[to], values));
  Transferred one{.from = report.targets[from].target, .to = report.targets[to].target};
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const bool fooled = at_to[i] != report.labels[i];
    one.adversarials += outcomes[i].success ? 1 : 0;
    if (outcomes[i].success) one.answers.push_back(at_to[i]);
    if (outcomes[i].success && fooled) ++one.fooled;
    if (outcomes[i].success && !fooled) one.only_from.push_back(report.samples[i]);
    if (!outcomes[i].success && fooled) one.only_to.push_back(report.samples[i]);
    if (at_from[i] == at_to[i]) continue;
    ++report.answered_differently;
    if (std::ssize(report.separations) >= plan.separations) continue;
    SeparatedAnswers answers{one.from, one.to, report.samples[i], at_from[i], at_to[i]};
    auto layer = separated(host, plan, plan.targets[from], plan.targets[to], values[i], at_from[i], at_to[i]);
    if (layer.ok())
      answers.layer = *std::move(layer);
    else
      answers.layer.reason = layer.error().message;
    report.separations.push_back(std::move(answers));
  }
  report.transfer.push_back(std::move(one));
  return {};
}

Result<std::unique_ptr<Attack>> attack_of(const AttackPlan& plan, const AttackReport& report,
                                          const std::vector<AttackSample>& samples,
                                          const AttackSettings& settings) {
  if (!plan.separate) return make_attack(*plan.method, samples, settings);
  std::vector<std::uint64_t> seeds;
  for (const std::int64_t sample : report.samples)
    seeds.push_back(plan.seed + static_cast<std::uint64_t>(sample));
  return make_separate_attacks(*plan.method, samples, settings, seeds);
}

}  // namespace

Result<AttackReport> run_attack(const AttackPlan& plan, const RunnerOptions& options,
                                const TargetProgress& progress) {
  if (plan.as_published && plan.method->published_slip.empty())
    return bad_input(fmt::format("--as-published: no study made a mistake with {} that this reproduces",
                                 plan.method->name));
  AttackHost host(plan, options, progress);
  DRIFTSCOPE_CHECK(host.open());
  AttackReport report;
  DRIFTSCOPE_TRY(report.samples, right_everywhere(host, plan, report));
  report.shape = host.shape();
  report.pictures = host.has_pictures();
  if (report.samples.empty()) return report;
  std::vector<AttackSample> samples;
  for (const std::int64_t sample : report.samples) {
    report.originals.push_back(host.data(sample));
    report.labels.push_back(plan.dataset->labels[static_cast<std::size_t>(sample)]);
    samples.push_back({report.originals.back(), report.labels.back()});
  }
  AttackSettings settings = host.settings();
  settings.epsilon = plan.epsilon;
  settings.steps = plan.steps;
  settings.seed = plan.seed;
  settings.stops_at_success = !plan.all_steps;
  settings.in_8_bits = plan.in_8_bits;
  settings.clips = !plan.as_published;
  if (plan.in_8_bits && (plan.method->replaces_words || settings.low < 0.0f || settings.high > 1.0f))
    return bad_input(
        plan.method->replaces_words
            ? "--store 8bit: the samples are texts"
            : fmt::format("--store 8bit: the data lie in [{}, {}], and 8-bit pictures keep [0, 1]: describe "
                          "the input with MODEL.preprocess.json",
                          settings.low, settings.high));
  for (std::size_t i = 0; i < plan.targets.size(); ++i) {
    DRIFTSCOPE_TRY(const auto attack, attack_of(plan, report, samples, settings));
    host.keep_prepared();
    while (const auto question = attack->next()) {
      DRIFTSCOPE_TRY(const auto answer, answered(host, plan, plan.targets[i], *question, report.labels));
      DRIFTSCOPE_CHECK(attack->take(answer));
    }
    report.targets[i].outcomes = attack->outcomes();
    host.drop_prepared();  // the models of one target at a time
    if (plan.in_8_bits)
      DRIFTSCOPE_CHECK(store_outcomes(host, plan.targets[i], report.labels, report.targets[i].outcomes));
  }
  for (std::size_t from = 0; from < plan.targets.size(); ++from) {
    AttackedTarget& attacked = report.targets[from];
    std::vector<std::vector<float>> values;
    for (const AttackOutcome& outcome : attacked.outcomes) values.push_back(outcome.values);
    DRIFTSCOPE_TRY(const auto classes, host.classes(plan.targets[from], values));
    for (std::size_t i = 0; i < classes.size(); ++i)
      if (attacked.outcomes[i].success) attacked.answers.push_back(classes[i]);
    for (std::size_t to = 0; to < plan.targets.size(); ++to)
      if (from != to) DRIFTSCOPE_CHECK(transfer(host, plan, from, to, values, classes, report));
  }
  return report;
}

double linf_distance(std::span<const float> a, std::span<const float> b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return largest;
}

double l2_distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

}  // namespace driftscope
