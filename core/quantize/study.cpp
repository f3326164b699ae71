#include "core/quantize/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/text.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/quantize/model_run.hpp"
#include "core/verify/top1.hpp"

namespace driftscope::quantize {
namespace {

using Keep = std::set<std::string>;

/// Of the layers' results in float; when they are more, fewer samples show what each layer does.
constexpr std::size_t most_kept_bytes = std::size_t{1} << 30;

/// Squared sums of a value and of its change.
struct Power {
  double signal = 0.0;
  double noise = 0.0;
  std::int64_t elements = 0;

  Status add(const Tensor& original, const Tensor& changed) {
    if (original.shape() != changed.shape())
      return internal_error(
          fmt::format("shapes differ: {} and {}", shape_text(original.shape()), shape_text(changed.shape())));
    with_numbers(original, [&](const auto& x) {
      with_numbers(changed, [&](const auto& y) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(original.elements()); ++i) {
          signal += x(i) * x(i);
          noise += (x(i) - y(i)) * (x(i) - y(i));
        }
      });
    });
    elements += original.elements();
    return {};
  }
  [[nodiscard]] double mean_noise() const {
    return elements == 0 ? 0.0 : noise / static_cast<double>(elements);
  }
  [[nodiscard]] double sqnr_db() const {
    if (noise == 0.0) return std::numeric_limits<double>::infinity();
    return 10.0 * std::log10(signal / noise);
  }
};

class Studying {
 public:
  Studying(const Model& model, const Quantizer& quantizer, const StudyRequest& request, const Watch& watch)
      : model_(model), quantizer_(quantizer), request_(request), watch_(watch) {}

  Result<Study> run() {
    DRIFTSCOPE_CHECK(check());
    if (quantizer_.mode().calibrated) {
      DRIFTSCOPE_TRY(
          ranges_, calibrate(model_, quantizer_.values(), *request_.calibration, request_.calibration_samples,
                             *request_.method, request_.method_options, watch_));
    }
    kept_ = Keep(request_.keep.begin(), request_.keep.end());
    DRIFTSCOPE_TRY(Quantizer::Made made, quantizer_.make(kept_, ranges_));
    study_.model = std::move(made.model);
    study_.notes = std::move(made.notes);
    for (const std::string& layer : quantizer_.layers())
      if (!kept_.contains(layer)) study_.layers.push_back({.node = layer, .op = op_of(layer)});
    if (request_.data == nullptr) return std::move(study_);
    DRIFTSCOPE_CHECK(before());
    DRIFTSCOPE_TRY(study_.after, accuracy_of(study_.model, "after", &study_.agree, &study_.drift));
    DRIFTSCOPE_CHECK(layers());
    if (request_.restore) DRIFTSCOPE_CHECK(restore());
    return std::move(study_);
  }

 private:
  Status check() {
    DRIFTSCOPE_CHECK(check_kept(request_.keep, quantizer_));
    if (quantizer_.mode().calibrated && request_.calibration == nullptr)
      return bad_input(
          fmt::format("--mode {}: ranges of activations come from data; give some that is like what the "
                      "model will see: --calibrate idx:IMAGES,LABELS, cifar10:FILE, …, or --calibrate "
                      "seed:42 for random inputs, which say nothing about accuracy",
                      quantizer_.mode().name));
    const auto is_kept = [&](const std::string& layer) {
      return std::ranges::find(request_.keep, layer) != request_.keep.end();
    };
    if (std::ranges::all_of(quantizer_.layers(), is_kept))
      return bad_input("--keep: every layer stays in float, nothing is left to quantize");
    if (request_.restore && (request_.data == nullptr || request_.data->labels().empty()))
      return bad_input(
          "--restore: an accuracy needs labelled data: --dataset idx:IMAGES,LABELS, cifar10:FILE, …");
    if (request_.restore && request_.layer_samples == 0)
      return bad_input(
          "--restore keeps the layers with the largest shares: --layer-samples must be at least 1");
    return {};
  }

  [[nodiscard]] std::string op_of(const std::string& layer) const {
    for (const ModelNode& node : study_.model.graph.nodes)
      if (node.name == layer) return node.op_type;
    const std::string& output = quantizer_.output_of(layer);
    for (const ModelNode& node : model_.graph.nodes)
      if (std::ranges::find(node.outputs, output) != node.outputs.end()) return node.op_type;
    return "";
  }

  /// Runs the original on every sample, and keeps what the rest is compared with.
  Status before() {
    Keep wanted;
    for (const std::string& layer : quantizer_.layers()) wanted.insert(quantizer_.output_of(layer));
    DRIFTSCOPE_TRY(ModelRun run, ModelRun::prepare(model_, wanted));
    DRIFTSCOPE_TRY(ModelRun plain, ModelRun::prepare(model_));
    output_ = run.output();
    const std::int64_t samples = std::max(request_.samples, request_.layer_samples);
    Accuracy accuracy{0, request_.samples};
    for (std::int64_t i = 0; i < samples; ++i) {
      if (!watch_("before", i, samples)) return stopped();
      DRIFTSCOPE_TRY(InputItem item, request_.data->item(i));
      const bool deep = i < request_.layer_samples && kept_bytes_ < most_kept_bytes;
      auto values = deep ? run.run(item.tensors) : plain.run(item.tensors);
      if (!values.ok()) return in_context(std::move(values).error(), fmt::format("sample {}", i));
      answers_.push_back(values->at(output_));
      const std::optional<std::int64_t> answer = class_of(answers_.back());
      classes_.push_back(answer.value_or(-1));
      has_classes_ = has_classes_ && answer.has_value();
      if (i < request_.samples && is_right(i, answer)) ++accuracy.correct;
      if (deep) {
        for (const auto& [name, tensor] : *values) kept_bytes_ += tensor.byte_size();
        inner_.push_back(*std::move(values));
      }
      inputs_.push_back(std::move(item.tensors));
    }
    if (!request_.data->labels().empty() && has_classes_) study_.before = accuracy;
    study_.measured_samples = std::ssize(inner_);
    return {};
  }

  static std::optional<std::int64_t> class_of(const Tensor& answer) {
    const auto classes = top1(answer);
    if (!classes || classes->size() != 1) return std::nullopt;
    return classes->front();
  }
  [[nodiscard]] bool is_right(std::int64_t i, std::optional<std::int64_t> answer) const {
    const auto labels = request_.data->labels();
    return answer && i < std::ssize(labels) && labels[static_cast<std::size_t>(i)] == *answer;
  }

  Result<std::optional<Accuracy>> accuracy_of(const Model& model, std::string_view step,
                                              std::optional<std::int64_t>* agree = nullptr,
                                              std::optional<double>* drift = nullptr) {
    DRIFTSCOPE_TRY(ModelRun run, ModelRun::prepare(model));
    Accuracy accuracy{0, request_.samples};
    std::int64_t same = 0;
    Power power;
    for (std::int64_t i = 0; i < request_.samples; ++i) {
      if (!watch_(step, i, request_.samples)) return stopped();
      const auto at = static_cast<std::size_t>(i);
      DRIFTSCOPE_TRY(const Values values, run.run(inputs_[at]));
      const Tensor& answer = values.at(output_);
      const std::optional<std::int64_t> found = class_of(answer);
      if (is_right(i, found)) ++accuracy.correct;
      same += found && *found == classes_[at] ? 1 : 0;
      if (at < inner_.size()) DRIFTSCOPE_CHECK(power.add(answers_[at], answer));
    }
    if (agree != nullptr && has_classes_) *agree = same;
    if (drift != nullptr && !inner_.empty()) *drift = power.mean_noise();
    if (!study_.before) return std::optional<Accuracy>();
    return std::optional(accuracy);
  }

  /// Each layer alone.
  Status layers() {
    if (inner_.empty()) return {};
    double sum = 0.0;
    for (std::size_t i = 0; i < study_.layers.size(); ++i) {
      LayerStudy& layer = study_.layers[i];
      if (!watch_("layer by layer", static_cast<std::int64_t>(i), std::ssize(study_.layers)))
        return stopped();
      Keep others(quantizer_.layers().begin(), quantizer_.layers().end());
      for (const std::string& node : quantizer_.nodes()) others.insert(node);
      others.erase(layer.node);
      DRIFTSCOPE_TRY(const Quantizer::Made made, quantizer_.make(others, ranges_));
      const std::string value = quantizer_.output_of(layer.node);
      DRIFTSCOPE_TRY(ModelRun run, ModelRun::prepare(made.model, {value}));
      Power inner;
      Power outer;
      for (std::size_t s = 0; s < inner_.size(); ++s) {
        DRIFTSCOPE_TRY(const Values values, run.run(inputs_[s]));
        const auto original = inner_[s].find(value);
        const auto changed = values.find(value);
        if (original != inner_[s].end() && changed != values.end())
          DRIFTSCOPE_CHECK(inner.add(original->second, changed->second));
        DRIFTSCOPE_CHECK(outer.add(answers_[s], values.at(output_)));
      }
      if (inner.elements > 0) layer.sqnr_db = inner.sqnr_db();
      layer.drift = outer.mean_noise();
      sum += layer.drift;
    }
    if (sum > 0.0)
      for (LayerStudy& layer : study_.layers) layer.drift_share = layer.drift / sum;
    return {};
  }

  /// Keeps the layers with the largest shares until the accuracy is there, then gives back those that turn
  /// out not to be needed, the smallest shares first.
  Status restore() {
    if (!study_.before)
      return bad_input(
          "--restore: the model's first output gives no class per sample, so there is no accuracy");
    study_.wanted = request_.restore_is_loss ? std::max(0.0, study_.before->share() - *request_.restore)
                                             : *request_.restore;
    const auto reached = [&](const Accuracy& accuracy) { return accuracy.share() >= *study_.wanted; };
    if (study_.after && reached(*study_.after)) {
      study_.restored = true;
      return {};
    }
    std::vector<std::size_t> order(study_.layers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(-study_.layers[i].drift, i); });
    Keep keep = kept_;
    for (const std::size_t i : order) {
      const LayerStudy& layer = study_.layers[i];
      keep.insert(layer.node);
      DRIFTSCOPE_TRY(const Accuracy accuracy, accuracy_with(keep, layer.node));
      study_.steps.push_back({layer.node, accuracy});
      study_.restored = reached(accuracy);
      if (study_.restored) break;
    }
    if (!study_.restored) return {};
    for (std::size_t i = study_.steps.size() - 1; i-- > 0;) {
      Keep fewer = keep;
      fewer.erase(study_.steps[i].node);
      DRIFTSCOPE_TRY(const Accuracy accuracy, accuracy_with(fewer, study_.steps[i].node));
      if (reached(accuracy)) keep = std::move(fewer);
    }
    for (const RestoreStep& step : study_.steps)
      if (keep.contains(step.node)) study_.restored_by.push_back(step.node);
    if (std::ranges::all_of(quantizer_.layers(), [&](const std::string& one) { return keep.contains(one); }))
      return {};
    DRIFTSCOPE_TRY(Quantizer::Made made, quantizer_.make(keep, ranges_));
    study_.model = std::move(made.model);
    study_.notes = std::move(made.notes);
    DRIFTSCOPE_TRY(study_.after, accuracy_of(study_.model, "after", &study_.agree, &study_.drift));
    return {};
  }

  Result<Accuracy> accuracy_with(const Keep& keep, const std::string& node) {
    DRIFTSCOPE_TRY(const Quantizer::Made made, quantizer_.make(keep, ranges_));
    DRIFTSCOPE_TRY(const auto accuracy, accuracy_of(made.model, fmt::format("without {}", node)));
    return accuracy.value_or(Accuracy{});
  }

  static Error stopped() { return Error{ErrorKind::cancelled, "stopped"}; }

  const Model& model_;
  const Quantizer& quantizer_;
  const StudyRequest& request_;
  const Watch& watch_;
  Study study_;
  Keep kept_;
  std::map<std::string, ValueRange> ranges_;
  std::string output_;
  std::vector<NamedInputs> inputs_;
  std::vector<Tensor> answers_;        // of the original
  std::vector<std::int64_t> classes_;  // of the original
  std::vector<Values> inner_;          // of the first samples
  std::size_t kept_bytes_ = 0;
  bool has_classes_ = true;
};

}  // namespace

Result<Study> study(const Model& model, const Quantizer& quantizer, const StudyRequest& request,
                    const Watch& watch) {
  return Studying(model, quantizer, request, watch).run();
}

}  // namespace driftscope::quantize
