#include "native/host/attack_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/attack/word_choices.hpp"
#include "core/compare/dataset_predictions.hpp"
#include "core/dataset/text_preprocess.hpp"
#include "core/gradient/gradient.hpp"
#include "core/gradient/sensitivity.hpp"
#include "native/host/gradient_file.hpp"
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

}  // namespace

Status AttackHost::open() {
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
  const auto described = input_site(*plan_.model).samples();
  pictures_ = described.ok() && std::holds_alternative<Preprocess>(described->how);
  if (plan_.method->needs_gradients) {
    auto made = gradient_file(*plan_.model, {.wrt = {input_}});
    if (!made.ok()) return in_context(std::move(made).error(), "the attack needs the model's gradient");
    gradient_ = *std::move(made);
  }
  return {};
}

std::vector<float> AttackHost::data(std::int64_t sample) const {
  if (words_) {
    const auto tokens = plan_.dataset->stacked[0].tensor.values<std::int64_t>().subspan(
        static_cast<std::size_t>(sample) * elements(), elements());
    return {tokens.begin(), tokens.end()};
  }
  const auto values = plan_.dataset->stacked[0].tensor.values<float>();
  return units_.data_of(values.subspan(static_cast<std::size_t>(sample) * elements(), elements()));
}

AttackSettings AttackHost::settings() const {
  AttackSettings settings = words_ ? AttackSettings() : units_.settings();
  settings.words = choices_;
  return settings;
}

Result<std::vector<std::int64_t>> AttackHost::original_classes(const Target& target) {
  RunRequest request;
  request.model = plan_.model;
  request.inputs = plan_.dataset->stacked;
  request.plan.samples = plan_.dataset->samples;
  request.plan.capture = messages::Capture::outputs;
  DRIFTSCOPE_TRY(const Trace trace, runner(target).run(target, request, progress_));
  return predicted_classes(plan_.model->graph, trace, plan_.dataset->samples, target.text());
}

Result<std::vector<std::int64_t>> AttackHost::classes(const Target& target,
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

Result<std::vector<std::vector<float>>> AttackHost::scores(const Target& target,
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

Result<std::vector<std::vector<float>>> AttackHost::gradients(const Target& target,
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
    request.keeps_prepared = keeps_prepared_;
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

Result<Trace> AttackHost::layers(const Target& target, const std::vector<float>& value) {
  RunRequest request;
  request.model = plan_.model;
  DRIFTSCOPE_TRY(Tensor input, single(value));
  request.inputs = {{input_, std::move(input)}};
  request.plan.capture = messages::Capture::all;
  return runner(target).run(target, request, progress_);
}

Result<Trace> AttackHost::margin_gradients(const std::vector<float>& value, std::int64_t label,
                                           std::int64_t other) {
  if (margin_gradient_ == nullptr) {
    DRIFTSCOPE_TRY(
        ModelFile made,
        gradient_file(*plan_.model, {.of = "margin", .wrt = sensitive_values(plan_.model->graph)}));
    margin_gradient_ = std::make_unique<ModelFile>(std::move(made));
  }
  RunRequest request;
  request.model = margin_gradient_.get();
  DRIFTSCOPE_TRY(Tensor inputs, single(value));
  DRIFTSCOPE_TRY(Tensor first, Tensor::from_values<std::int64_t>({1}, std::span(&label, 1)));
  DRIFTSCOPE_TRY(Tensor second, Tensor::from_values<std::int64_t>({1}, std::span(&other, 1)));
  request.inputs = {{input_, std::move(inputs)},
                    {std::string(gradient_label), std::move(first)},
                    {std::string(gradient_other), std::move(second)}};
  request.plan.capture = messages::Capture::outputs;
  return runner_of("margin").run(plan_.gradient_target, request, progress_);
}

Result<Trace> AttackHost::answers(const Target& target, std::span<const std::vector<float>> values) {
  RunRequest request;
  request.model = plan_.model;
  DRIFTSCOPE_TRY(Tensor inputs, stacked(values));
  request.inputs = {{input_, std::move(inputs)}};
  request.plan.samples = std::ssize(values);
  request.plan.capture = messages::Capture::outputs;
  request.keeps_prepared = keeps_prepared_;
  return runner(target).run(target, request, progress_);
}

Status AttackHost::open_words(const Tensor& all) {
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

Result<Tensor> AttackHost::stacked(std::span<const std::vector<float>> values) const {
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

Result<Tensor> AttackHost::single(const std::vector<float>& value) const {
  DRIFTSCOPE_TRY(const Tensor one, stacked(std::span(&value, 1)));
  return one.reshaped(sample_shape_);
}

void AttackHost::drop_prepared() {
  keeps_prepared_ = false;
  for (auto& [key, runner] : runners_) runner->drop_prepared();
}

TargetRunner& AttackHost::runner_of(const std::string& key) {
  auto& one = runners_[key];
  if (one == nullptr) one = std::make_unique<TargetRunner>(options_);
  return *one;
}

}  // namespace driftscope
