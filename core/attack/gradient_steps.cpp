#include "core/attack/gradient_steps.hpp"

#include <algorithm>

namespace driftscope {
namespace {

class GradientSteps final : public Attack {
 public:
  GradientSteps(std::vector<AttackSample> samples, const AttackSettings& settings, double step,
                std::int64_t steps)
      : samples_(std::move(samples)),
        settings_(settings),
        step_(static_cast<float>(step)),
        left_(steps),
        outcomes_(samples_.size()) {
    for (const AttackSample& sample : samples_) at_.push_back(sample.values);
  }

  std::optional<AttackQuestion> next() override {
    question_ = {};
    question_.asks = moved_ ? AttackAsks::classes : AttackAsks::gradients;
    if (!moved_ && left_ == 0) return std::nullopt;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      if (outcomes_[i].success) continue;
      question_.samples.push_back(i);
      question_.values.push_back(at_[i]);
      if (moved_ && settings_.in_8_bits)
        for (float& value : question_.values.back()) value = stored_in_8_bits(value);
      ++outcomes_[i].queries;
    }
    if (question_.samples.empty()) return std::nullopt;
    return question_;
  }

  Status take(const AttackAnswer& answer) override {
    DRIFTSCOPE_CHECK(check_answer(question_, answer));
    if (moved_) {
      for (std::size_t k = 0; k < question_.samples.size(); ++k) {
        AttackOutcome& outcome = outcomes_[question_.samples[k]];
        outcome.success = answer.classes[k] != samples_[question_.samples[k]].label;
        outcome.values = std::move(question_.values[k]);
      }
      moved_ = false;
      return {};
    }
    --left_;
    for (std::size_t k = 0; k < question_.samples.size(); ++k)
      move(question_.samples[k], answer.gradients[k]);
    moved_ = settings_.stops_at_success || left_ == 0;
    return {};
  }

  std::vector<AttackOutcome> outcomes() const override { return outcomes_; }

 private:
  void move(std::size_t i, const std::vector<float>& gradient) {
    const float epsilon = static_cast<float>(settings_.epsilon);
    for (std::size_t at = 0; at < gradient.size(); ++at) {
      const float slope = gradient[at];
      const float sign = static_cast<float>(static_cast<int>(slope > 0.0f) - static_cast<int>(slope < 0.0f));
      const float from = samples_[i].values[at];
      const float moved = at_[i][at] + step_ * sign;
      const float inside = from + std::clamp(moved - from, -epsilon, epsilon);
      at_[i][at] = settings_.clips ? std::clamp(inside, settings_.low, settings_.high) : inside;
    }
  }

  std::vector<AttackSample> samples_;
  AttackSettings settings_;
  float step_;
  std::int64_t left_;
  std::vector<std::vector<float>> at_;  ///< by sample: where it has come to
  std::vector<AttackOutcome> outcomes_;
  AttackQuestion question_;
  bool moved_ = false;  ///< the answer is asked next
};

}  // namespace

std::unique_ptr<Attack> gradient_steps(std::vector<AttackSample> samples, const AttackSettings& settings,
                                       double step, std::int64_t steps) {
  return std::make_unique<GradientSteps>(std::move(samples), settings, step, steps);
}

}  // namespace driftscope
