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
    for (std::size_t i = 0; i < samples_.size(); ++i) outcomes_[i].values = samples_[i].values;
  }

  std::optional<AttackQuestion> next() override {
    if (over_) return std::nullopt;
    question_ = {};
    question_.asks = left_ > 0 ? AttackAsks::gradients : AttackAsks::classes;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      question_.samples.push_back(i);
      question_.values.push_back(outcomes_[i].values);
      ++outcomes_[i].queries;
    }
    return question_;
  }

  Status take(const AttackAnswer& answer) override {
    DRIFTSCOPE_CHECK(check_answer(question_, answer));
    if (left_ == 0) {
      for (std::size_t i = 0; i < samples_.size(); ++i)
        outcomes_[i].success = answer.classes[i] != samples_[i].label;
      over_ = true;
      return {};
    }
    --left_;
    const float epsilon = static_cast<float>(settings_.epsilon);
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      for (std::size_t at = 0; at < samples_[i].values.size(); ++at) {
        const float slope = answer.gradients[i][at];
        const float sign =
            static_cast<float>(static_cast<int>(slope > 0.0f) - static_cast<int>(slope < 0.0f));
        const float from = samples_[i].values[at];
        float& x = outcomes_[i].values[at];
        const float moved = x + step_ * sign;
        x = std::clamp(from + std::clamp(moved - from, -epsilon, epsilon), settings_.low, settings_.high);
      }
    }
    return {};
  }

  std::vector<AttackOutcome> outcomes() const override { return outcomes_; }

 private:
  std::vector<AttackSample> samples_;
  AttackSettings settings_;
  float step_;
  std::int64_t left_;
  std::vector<AttackOutcome> outcomes_;
  AttackQuestion question_;
  bool over_ = false;
};

}  // namespace

std::unique_ptr<Attack> gradient_steps(std::vector<AttackSample> samples, const AttackSettings& settings,
                                       double step, std::int64_t steps) {
  return std::make_unique<GradientSteps>(std::move(samples), settings, step, steps);
}

}  // namespace driftscope
