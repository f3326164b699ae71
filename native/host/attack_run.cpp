#include "native/host/attack_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/attack/data_units.hpp"
#include "core/attack/separate_attacks.hpp"
#include "core/attack/word_choices.hpp"
#include "core/compare/dataset_predictions.hpp"
#include "core/dataset/text_preprocess.hpp"
#include "core/gradient/gradient.hpp"
#include "core/model/onnx_writer.hpp"
#include "native/host/sample_files.hpp"

namespace driftscope {
namespace {

// Samples of a run: the inputs and outputs of so many are in memory at a time.
constexpr std::size_t attack_batch = 512;

Result<DataUnits> units_of(const ModelFile& model, const Tensor& samples) {
  const auto described = input_site(model).samples();
  if (!described.ok()) return DataUnits::plain(samples);  // no description: the data is the input
  const auto* how = std::get_if<Preprocess>(&described->how);
  return how == nullptr ? DataUnits::plain(samples) : DataUnits::pictures(*how);
}

// The gradient's graph as a file of a model, for every host.
Result<ModelFile> gradient_file(const ModelFile& model, const std::string& input) {
  const auto external = [&](const std::string& location, std::int64_t offset,
                            std::int64_t length) -> Result<ByteSource> {
    const auto found = std::ranges::find(model.attachments, location, &JobAttachment::location);
    if (found == model.attachments.end()) return bad_input(fmt::format("external data file {}", location));
    const auto begin = static_cast<std::uint64_t>(offset);
    return found->bytes.source().part(
        begin, length < 0 ? found->bytes.size() - begin : static_cast<std::uint64_t>(length));
  };
  DRIFTSCOPE_TRY(const Model read, read_onnx(model.bytes.bytes(), external));
  const auto gradient = make_gradient(read, {.wrt = {input}});
  if (!gradient.ok()) return in_context(gradient.error(), "the attack needs the model's gradient");
  DRIFTSCOPE_TRY(auto bytes, write_onnx(gradient->model));
  return load_model_bytes(model.path, "gradient of " + model.name, SharedBytes(std::move(bytes)), {});
}

class AttackHost {
 public:
  AttackHost(const AttackPlan& plan, const RunnerOptions& options, const TargetProgress& progress)
      : plan_(plan), options_(options), progress_(progress) {}

  Status open() {
    const auto& stacked = plan_.dataset->stacked;
    if (plan_.dataset->labels.empty())
      return bad_input("--dataset: it has no labels, and an attack needs to know which answers are right");
    words_ = plan_.method->replaces_words;
    if (stacked.size() != 1 || stacked[0].tensor.dtype() != (words_ ? DType::int64 : DType::float32))
      return unsupported(fmt::format("attack method {} changes {}: the model needs a single {} input",
                                     plan_.method->name, words_ ? "words" : "pictures",
                                     words_ ? "int64" : "float32"));
    const Tensor& all = stacked[0].tensor;
    const auto id = plan_.model->graph.inputs.at(0);
    input_ = plan_.model->graph.values[id].name;
    sample_shape_.assign(all.shape().begin() + 1, all.shape().end());
    if (words_) return open_words(all);
    DRIFTSCOPE_TRY(units_, units_of(*plan_.model, all));
    if (plan_.method->needs_gradients) {
      DRIFTSCOPE_TRY(gradient_, gradient_file(*plan_.model, input_));
    }
    return {};
  }

  /// The samples as the data set has them.
  [[nodiscard]] std::vector<float> data(std::int64_t sample) const {
    if (words_) {
      const auto tokens = plan_.dataset->stacked[0].tensor.values<std::int64_t>().subspan(
          static_cast<std::size_t>(sample) * elements(), elements());
      return {tokens.begin(), tokens.end()};
    }
    const auto values = plan_.dataset->stacked[0].tensor.values<float>();
    return units_.data_of(values.subspan(static_cast<std::size_t>(sample) * elements(), elements()));
  }
  [[nodiscard]] AttackSettings settings() const {
    AttackSettings settings = words_ ? AttackSettings() : units_.settings();
    settings.words = choices_;
    return settings;
  }
  [[nodiscard]] const Shape& shape() const { return sample_shape_; }

  Result<std::vector<std::int64_t>> original_classes(const Target& target) {
    RunRequest request;
    request.model = plan_.model;
    request.inputs = plan_.dataset->stacked;
    request.plan.samples = plan_.dataset->samples;
    request.plan.capture = messages::Capture::outputs;
    DRIFTSCOPE_TRY(const Trace trace, runner(target).run(target, request, progress_));
    return predicted_classes(plan_.model->graph, trace, plan_.dataset->samples, target.text());
  }

  Result<std::vector<std::int64_t>> classes(const Target& target,
                                            std::span<const std::vector<float>> values) {
    std::vector<std::int64_t> all;
    for (std::size_t begin = 0; begin < values.size(); begin += attack_batch) {
      const auto part = values.subspan(begin, std::min(attack_batch, values.size() - begin));
      DRIFTSCOPE_TRY(const Trace trace, answers(target, part));
      DRIFTSCOPE_TRY(const auto some,
                     predicted_classes(plan_.model->graph, trace, std::ssize(part), target.text()));
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

  /// Rows of the first output.
  Result<std::vector<std::vector<float>>> scores(const Target& target,
                                                 std::span<const std::vector<float>> values) {
    std::vector<std::vector<float>> all;
    const std::string output = plan_.model->graph.value_name(plan_.model->graph.outputs.front());
    for (std::size_t begin = 0; begin < values.size(); begin += attack_batch) {
      const auto part = values.subspan(begin, std::min(attack_batch, values.size() - begin));
      DRIFTSCOPE_TRY(const Trace trace, answers(target, part));
      const Tensor* const rows = trace.find(output);
      if (rows == nullptr || rows->dtype() != DType::float32 || rows->elements() == 0 ||
          rows->elements() % std::ssize(part) != 0)
        return internal_error(
            fmt::format("{}: output {} does not hold a row for each sample", target.text(), output));
      const auto width = static_cast<std::size_t>(rows->elements() / std::ssize(part));
      for (std::size_t i = 0; i < part.size(); ++i) {
        const auto row = rows->values<float>().subspan(i * width, width);
        all.emplace_back(row.begin(), row.end());
      }
    }
    return all;
  }

  Result<std::vector<std::vector<float>>> gradients(const Target& target,
                                                    std::span<const std::vector<float>> values,
                                                    std::span<const std::int64_t> labels) {
    std::vector<std::vector<float>> all;
    for (std::size_t begin = 0; begin < values.size(); begin += attack_batch) {
      const std::size_t count = std::min(attack_batch, values.size() - begin);
      RunRequest request;
      request.model = &gradient_;
      DRIFTSCOPE_TRY(Tensor inputs, stacked(values.subspan(begin, count)));
      DRIFTSCOPE_TRY(Tensor classes, Tensor::from_values<std::int64_t>({static_cast<std::int64_t>(count), 1},
                                                                       labels.subspan(begin, count)));
      request.inputs = {{input_, std::move(inputs)}, {std::string(gradient_label), std::move(classes)}};
      request.plan.samples = static_cast<std::int64_t>(count);
      request.plan.capture = messages::Capture::outputs;
      DRIFTSCOPE_TRY(const Trace trace, gradient_runner(target).run(target, request, progress_));
      const Tensor* made = trace.find("grad/" + input_);
      if (made == nullptr || made->dtype() != DType::float32 ||
          made->elements() != static_cast<std::int64_t>(count * elements()))
        return internal_error(fmt::format("{}: the gradient is missing or has another shape", target.text()));
      for (std::size_t i = 0; i < count; ++i)
        all.push_back(units_.data_gradient(made->values<float>().subspan(i * elements(), elements())));
    }
    return all;
  }

 private:
  [[nodiscard]] std::size_t elements() const {
    return static_cast<std::size_t>(element_count(sample_shape_));
  }

  Result<Trace> answers(const Target& target, std::span<const std::vector<float>> values) {
    RunRequest request;
    request.model = plan_.model;
    DRIFTSCOPE_TRY(Tensor inputs, stacked(values));
    request.inputs = {{input_, std::move(inputs)}};
    request.plan.samples = std::ssize(values);
    request.plan.capture = messages::Capture::outputs;
    return runner(target).run(target, request, progress_);
  }

  Status open_words(const Tensor& all) {
    constexpr std::size_t neighbours = 8;
    constexpr std::int64_t frequent = 27;  // words that the published notebook never replaces
    DRIFTSCOPE_TRY(const InputSite::Samples described, input_site(*plan_.model).samples());
    const auto* const how = std::get_if<TextPreprocess>(&described.how);
    if (how == nullptr)
      return unsupported(fmt::format("{} does not describe texts, and attack method {} replaces words",
                                     described.described_by, plan_.method->name));
    std::int64_t first = how->first_index;
    while (first == how->pad || first == how->unknown) ++first;
    DRIFTSCOPE_TRY(choices_, nearest_words(plan_.model->graph, all.values<std::int64_t>(), first, frequent,
                                           how->pad, neighbours));
    return {};
  }

  Result<Tensor> stacked(std::span<const std::vector<float>> values) const {
    Shape shape = sample_shape_;
    shape.insert(shape.begin(), std::ssize(values));
    if (words_) {
      DRIFTSCOPE_TRY(Tensor tokens, Tensor::make(DType::int64, shape));
      auto into = tokens.mutable_values<std::int64_t>().begin();
      for (const std::vector<float>& one : values)
        for (const float token : one) *into++ = static_cast<std::int64_t>(token);
      return tokens;
    }
    DRIFTSCOPE_TRY(Tensor all, Tensor::make(DType::float32, shape));
    for (std::size_t i = 0; i < values.size(); ++i)
      units_.to_input(values[i], all.mutable_values<float>().subspan(i * elements(), elements()));
    return all;
  }

  // A session for each target, which stays open; another one for gradients, so that neither loads its model
  // again for every step.
  TargetRunner& runner(const Target& target) { return runner_of(target.text()); }
  TargetRunner& gradient_runner(const Target& target) { return runner_of("gradient " + target.text()); }
  TargetRunner& runner_of(const std::string& key) {
    auto& one = runners_[key];
    if (one == nullptr) one = std::make_unique<TargetRunner>(options_);
    return *one;
  }

  const AttackPlan& plan_;
  const RunnerOptions& options_;
  const TargetProgress& progress_;
  std::map<std::string, std::unique_ptr<TargetRunner>> runners_;
  ModelFile gradient_;
  std::string input_;
  Shape sample_shape_;
  DataUnits units_;
  bool words_ = false;
  WordChoices choices_;
};

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
  AttackHost host(plan, options, progress);
  DRIFTSCOPE_CHECK(host.open());
  AttackReport report;
  DRIFTSCOPE_TRY(report.samples, right_everywhere(host, plan, report));
  report.shape = host.shape();
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
  for (std::size_t i = 0; i < plan.targets.size(); ++i) {
    DRIFTSCOPE_TRY(const auto attack, attack_of(plan, report, samples, settings));
    while (const auto question = attack->next()) {
      DRIFTSCOPE_TRY(const auto answer, answered(host, plan, plan.targets[i], *question, report.labels));
      DRIFTSCOPE_CHECK(attack->take(answer));
    }
    report.targets[i].outcomes = attack->outcomes();
    if (plan.in_8_bits)
      DRIFTSCOPE_CHECK(store_outcomes(host, plan.targets[i], report.labels, report.targets[i].outcomes));
  }
  for (std::size_t from = 0; from < plan.targets.size(); ++from) {
    std::vector<std::vector<float>> adversarials;
    std::vector<std::int64_t> labels;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const AttackOutcome& outcome = report.targets[from].outcomes[i];
      if (!outcome.success) continue;
      adversarials.push_back(outcome.values);
      labels.push_back(report.labels[i]);
    }
    for (std::size_t to = 0; to < plan.targets.size(); ++to) {
      if (from == to) continue;
      Transferred one{report.targets[from].target, report.targets[to].target, std::ssize(adversarials), 0};
      if (!adversarials.empty()) {
        DRIFTSCOPE_TRY(const auto classes, host.classes(plan.targets[to], adversarials));
        for (std::size_t i = 0; i < labels.size(); ++i) one.fooled += classes[i] != labels[i] ? 1 : 0;
      }
      report.transfer.push_back(std::move(one));
    }
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
