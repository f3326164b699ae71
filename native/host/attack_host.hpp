// Serves the questions of attacks with runs of a model, and of its gradient, on targets. Client: attack_run.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/attack/data_units.hpp"
#include "native/host/attack_run.hpp"

namespace driftscope {

class AttackHost {
 public:
  /// All must outlive it.
  AttackHost(const AttackPlan& plan, const RunnerOptions& options, const TargetProgress& progress)
      : plan_(plan), options_(options), progress_(progress) {}

  /// Errors: as run_attack.
  [[nodiscard]] Status open();

  /// The sample as the data set has it.
  [[nodiscard]] std::vector<float> data(std::int64_t sample) const;
  [[nodiscard]] AttackSettings settings() const;
  [[nodiscard]] const Shape& shape() const { return sample_shape_; }
  /// The samples are pictures that the model's description explains.
  [[nodiscard]] bool has_pictures() const { return pictures_; }

  /// Until drop_prepared() a target's model and its gradient stay prepared from one question to the next.
  void keep_prepared() { keeps_prepared_ = true; }
  void drop_prepared();

  [[nodiscard]] Result<std::vector<std::int64_t>> original_classes(const Target& target);
  [[nodiscard]] Result<std::vector<std::int64_t>> classes(const Target& target,
                                                          std::span<const std::vector<float>> values);
  /// Rows of the first output.
  [[nodiscard]] Result<std::vector<std::vector<float>>> scores(const Target& target,
                                                               std::span<const std::vector<float>> values);
  [[nodiscard]] Result<std::vector<std::vector<float>>> gradients(const Target& target,
                                                                  std::span<const std::vector<float>> values,
                                                                  std::span<const std::int64_t> labels);
  /// A run that records every layer.
  [[nodiscard]] Result<Trace> layers(const Target& target, const std::vector<float>& value);
  /// The gradients of logit `label` minus logit `other` with respect to every layer, as "grad/VALUE".
  [[nodiscard]] Result<Trace> margin_gradients(const std::vector<float>& value, std::int64_t label,
                                               std::int64_t other);

 private:
  [[nodiscard]] std::size_t elements() const {
    return static_cast<std::size_t>(element_count(sample_shape_));
  }
  [[nodiscard]] Result<Trace> answers(const Target& target, std::span<const std::vector<float>> values);
  [[nodiscard]] Status open_words(const Tensor& all);
  [[nodiscard]] Result<Tensor> stacked(std::span<const std::vector<float>> values) const;
  [[nodiscard]] Result<Tensor> single(const std::vector<float>& value) const;  ///< as the model reads it
  // A session for each target, which stays open; another one for gradients, so that neither loads its model
  // again for every step.
  TargetRunner& runner(const Target& target) { return runner_of(target.text()); }
  TargetRunner& gradient_runner(const Target& target) { return runner_of("gradient " + target.text()); }
  TargetRunner& runner_of(const std::string& key);

  const AttackPlan& plan_;
  const RunnerOptions& options_;
  const TargetProgress& progress_;
  std::map<std::string, std::unique_ptr<TargetRunner>> runners_;
  ModelFile gradient_;
  std::unique_ptr<ModelFile> margin_gradient_;  // once it is asked for
  std::string input_;
  Shape sample_shape_;
  DataUnits units_;
  bool keeps_prepared_ = false;
  bool words_ = false;
  bool pictures_ = false;
  WordChoices choices_;
};

}  // namespace driftscope
