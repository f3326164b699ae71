// Single pixel (Foolbox 1 and 2): pixels in random order, up to 1,000 of them; each is set to the largest,
// then to the smallest value, in all channels. It stops at the first that is answered wrongly.
#include <algorithm>

#include "core/attack/attack.hpp"
#include "core/base/rng.hpp"

namespace driftscope {
namespace single_pixel_parts {
namespace {

// Candidates of a sample that are asked together: an engine answers a batch faster. They count as queries
// only up to the first success, as if they were asked one by one.
constexpr std::size_t together = 16;

class SinglePixel final : public Attack {
 public:
  SinglePixel(std::vector<AttackSample> samples, const AttackSettings& settings)
      : samples_(std::move(samples)), settings_(settings), outcomes_(samples_.size()) {
    const std::size_t pixels = samples_[0].values.size() / static_cast<std::size_t>(settings_.channels);
    const std::size_t most = settings_.steps == 0 ? 1000 : static_cast<std::size_t>(settings_.steps);
    Rng rng(settings_.seed);
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      outcomes_[i].values = samples_[i].values;
      std::vector<std::size_t> order(pixels);
      for (std::size_t p = 0; p < pixels; ++p) order[p] = p;
      for (std::size_t p = pixels; p > 1; --p) std::swap(order[p - 1], order[rng.below(p)]);
      order.resize(std::min(pixels, most));
      orders_.push_back(std::move(order));
    }
  }

  std::optional<AttackQuestion> next() override {
    question_ = {};
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const std::size_t end = std::min(tried_ + together, 2 * orders_[i].size());
      for (std::size_t candidate = tried_; candidate < end && !outcomes_[i].success; ++candidate) {
        question_.samples.push_back(i);
        question_.values.push_back(candidate_of(i, candidate));
      }
    }
    if (question_.samples.empty()) return std::nullopt;
    tried_ += together;
    return question_;
  }

  Status take(const AttackAnswer& answer) override {
    DRIFTSCOPE_CHECK(check_answer(question_, answer));
    for (std::size_t k = 0; k < question_.samples.size(); ++k) {
      AttackOutcome& outcome = outcomes_[question_.samples[k]];
      if (outcome.success) continue;
      ++outcome.queries;
      if (answer.classes[k] == samples_[question_.samples[k]].label) continue;
      outcome.success = true;
      outcome.values = question_.values[k];
    }
    return {};
  }

  std::vector<AttackOutcome> outcomes() const override { return outcomes_; }

 private:
  std::vector<float> candidate_of(std::size_t sample, std::size_t candidate) const {
    std::vector<float> values = samples_[sample].values;
    const auto pixel = static_cast<std::int64_t>(orders_[sample][candidate / 2]);
    // Planes have a pixel's channels far apart, interleaved ones beside each other.
    const std::int64_t first = settings_.channel_stride == 1 ? pixel * settings_.channels : pixel;
    for (std::int64_t c = 0; c < settings_.channels; ++c)
      values[static_cast<std::size_t>(first + c * settings_.channel_stride)] =
          candidate % 2 == 0 ? settings_.high : settings_.low;
    return values;
  }

  std::vector<AttackSample> samples_;
  AttackSettings settings_;
  std::vector<AttackOutcome> outcomes_;
  std::vector<std::vector<std::size_t>> orders_;
  std::size_t tried_ = 0;
  AttackQuestion question_;
};

}  // namespace
}  // namespace single_pixel_parts

namespace attack_methods::single_pixel {

static std::unique_ptr<Attack> make(std::vector<AttackSample> samples, const AttackSettings& settings) {
  return std::make_unique<single_pixel_parts::SinglePixel>(std::move(samples), settings);
}

void add_to(AttackMethodTable& table) {
  table.add({.order = 30,
             .name = "single-pixel",
             .help = "one pixel set to the largest or smallest value, up to 1,000 in random order",
             .make = make});
}

}  // namespace attack_methods::single_pixel

}  // namespace driftscope
