// Boundary attack (Brendel et al. 2018) as Foolbox 3 has it: from blended uniform noise that is answered
// wrongly, random steps along the sphere around the sample and towards it, whose sizes follow the shares
// that succeed. All samples walk together and share the direction that is drawn for a step. It needs
// answers only.
#include <algorithm>
#include <cmath>

#include "core/attack/attack.hpp"
#include "core/base/rng.hpp"

namespace driftscope {
namespace boundary_parts {
namespace {

constexpr double first_step = 0.01;  // spherical and towards the source
constexpr double step_adaptation = 1.5;
constexpr std::int64_t update_every = 10;
constexpr double convergence = 1e-7;           // of the step towards the source
constexpr std::int64_t max_directions = 1000;  // of noise
constexpr int blends = 50;
constexpr std::int64_t default_steps = 25000;

// The last outcomes of a kind of step; full before it says anything.
class Outcomes {
 public:
  explicit Outcomes(std::size_t size) : size_(size) {}
  void add(bool success) {
    if (last_.size() == size_) last_.erase(last_.begin());
    last_.push_back(success);
  }
  [[nodiscard]] std::optional<double> share() const {
    if (last_.size() < size_) return std::nullopt;
    return static_cast<double>(std::ranges::count(last_, true)) / static_cast<double>(size_);
  }
  void clear() { last_.clear(); }

 private:
  std::size_t size_;
  std::vector<bool> last_;
};

struct Walker {
  std::vector<float> noise;
  std::vector<float> best;  ///< adversarial once `started`
  bool started = false;
  bool blended = false;
  double spherical_step = first_step;
  double source_step = first_step;
  Outcomes spherical{100};
  Outcomes steps{30};
  [[nodiscard]] bool walks() const { return blended && source_step >= convergence; }
};

using Values = std::vector<float>;

double norm_of_difference(const Values& a, const Values& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double one = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += one * one;
  }
  return std::sqrt(sum);
}

class Boundary final : public Attack {
 public:
  Boundary(std::vector<AttackSample> samples, const AttackSettings& settings)
      : samples_(std::move(samples)),
        settings_(settings),
        rng_(settings.seed),
        steps_(settings.steps == 0 ? default_steps : settings.steps),
        walkers_(samples_.size()),
        queries_(samples_.size(), 0) {}

  std::optional<AttackQuestion> next() override {
    question_ = {};
    if (phase_ == Phase::noise) ask_noise();
    if (phase_ == Phase::blend) ask_blends();
    if (phase_ == Phase::walk) ask_steps();
    if (question_.samples.empty()) return std::nullopt;
    for (const std::size_t sample : question_.samples) ++queries_[sample];
    return question_;
  }

  Status take(const AttackAnswer& answer) override {
    DRIFTSCOPE_CHECK(check_answer(question_, answer));
    const auto wrong = [&](std::size_t k) {
      return answer.classes[k] != samples_[question_.samples[k]].label;
    };
    if (phase_ == Phase::walk) return take_steps(wrong);
    for (std::size_t k = 0; k < question_.samples.size(); ++k) {
      Walker& walker = walkers_[question_.samples[k]];
      if (!wrong(k)) continue;
      (phase_ == Phase::noise ? walker.started : walker.blended) = true;
      (phase_ == Phase::noise ? walker.noise : walker.best) = question_.values[k];
    }
    return {};
  }

  std::vector<AttackOutcome> outcomes() const override {
    std::vector<AttackOutcome> all;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const Walker& walker = walkers_[i];
      all.push_back({walker.blended ? walker.best : samples_[i].values, walker.blended, queries_[i]});
    }
    return all;
  }

 private:
  enum class Phase { noise, blend, walk };

  void ask(std::size_t sample, Values values) {
    question_.samples.push_back(sample);
    question_.values.push_back(std::move(values));
  }

  void ask_noise() {
    if (direction_ < max_directions)
      for (std::size_t i = 0; i < walkers_.size(); ++i) {
        if (walkers_[i].started) continue;
        Values values(samples_[i].values.size());
        for (float& x : values) x = rng_.uniform(settings_.low, settings_.high);
        ask(i, std::move(values));
      }
    ++direction_;
    if (question_.samples.empty()) phase_ = Phase::blend;
  }

  // The least share of noise that is answered wrongly, of 0, 1/50, …, 1.
  void ask_blends() {
    const float share = static_cast<float>(blend_) / static_cast<float>(blends);
    if (blend_ <= blends)
      for (std::size_t i = 0; i < walkers_.size(); ++i) {
        if (!walkers_[i].started || walkers_[i].blended) continue;
        Values values = samples_[i].values;
        for (std::size_t at = 0; at < values.size(); ++at)
          values[at] = clipped((1.0f - share) * values[at] + share * walkers_[i].noise[at]);
        ask(i, std::move(values));
      }
    ++blend_;
    if (question_.samples.empty()) phase_ = Phase::walk;
  }

  void ask_steps() {
    if (step_ >= steps_) return;
    ++step_;
    checks_spherical_ = step_ % update_every == 0;
    std::vector<double> eta(samples_[0].values.size());
    for (double& x : eta) x = static_cast<double>(rng_.normal());
    std::vector<Values> spherical;
    for (std::size_t i = 0; i < walkers_.size(); ++i) {
      if (!walkers_[i].walks()) continue;
      auto [on_sphere, candidate] = propose(i, eta);
      ask(i, std::move(candidate));
      spherical.push_back(std::move(on_sphere));
    }
    const std::size_t walking = question_.samples.size();
    if (checks_spherical_)
      for (std::size_t k = 0; k < walking; ++k) ask(question_.samples[k], std::move(spherical[k]));
  }

  [[nodiscard]] float clipped(float x) const { return std::clamp(x, settings_.low, settings_.high); }

  // A step along the sphere around the sample, and from there one towards the sample.
  [[nodiscard]] std::pair<Values, Values> propose(std::size_t i, std::span<const double> eta) const {
    const Values& original = samples_[i].values;
    const Walker& walker = walkers_[i];
    const double distance = norm_of_difference(original, walker.best);
    const std::size_t n = original.size();
    std::vector<double> source(n), direction(n);
    double along = 0.0;
    for (std::size_t at = 0; at < n; ++at) {
      source[at] = static_cast<double>(original[at]) - static_cast<double>(walker.best[at]);
      if (distance > 0.0) along += eta[at] * source[at] / distance;
    }
    double length = 0.0;
    for (std::size_t at = 0; at < n; ++at) {
      direction[at] = eta[at] - (distance > 0.0 ? along * source[at] / distance : 0.0);
      length += direction[at] * direction[at];
    }
    const double scale = length > 0.0 ? walker.spherical_step * distance / std::sqrt(length) : 0.0;
    const double back = std::sqrt(walker.spherical_step * walker.spherical_step + 1.0);
    Values on_sphere(n), candidate(n);
    for (std::size_t at = 0; at < n; ++at)
      on_sphere[at] = clipped(static_cast<float>(static_cast<double>(original[at]) +
                                                 (direction[at] * scale - source[at]) / back));
    const double reached = norm_of_difference(original, on_sphere);
    const double step = std::max(0.0, walker.source_step * distance + reached - distance);
    const double share = reached > 0.0 ? step / reached : 0.0;
    for (std::size_t at = 0; at < n; ++at) {
      const double here = static_cast<double>(on_sphere[at]);
      candidate[at] = clipped(static_cast<float>(here + share * (static_cast<double>(original[at]) - here)));
    }
    return {std::move(on_sphere), std::move(candidate)};
  }

  template <class Wrong>
  Status take_steps(const Wrong& wrong) {
    const std::size_t walking = checks_spherical_ ? question_.samples.size() / 2 : question_.samples.size();
    for (std::size_t k = 0; k < walking; ++k) {
      const std::size_t i = question_.samples[k];
      Walker& walker = walkers_[i];
      const Values& original = samples_[i].values;
      const bool success = wrong(k);
      // In theory every candidate is closer; in float32 it need not be.
      if (success &&
          norm_of_difference(original, question_.values[k]) < norm_of_difference(original, walker.best))
        walker.best = question_.values[k];
      if (!checks_spherical_) continue;
      walker.spherical.add(wrong(walking + k));
      walker.steps.add(success);
      adapt(walker);
    }
    return {};
  }

  static void adapt(Walker& walker) {
    if (const auto share = walker.spherical.share(); share && (*share > 0.5 || *share < 0.2)) {
      const double factor = *share > 0.5 ? step_adaptation : 1.0 / step_adaptation;
      walker.spherical_step *= factor;
      walker.source_step *= factor;
      walker.spherical.clear();
    }
    if (const auto share = walker.steps.share(); share && (*share > 0.25 || *share < 0.1)) {
      walker.source_step *= *share > 0.25 ? step_adaptation : 1.0 / step_adaptation;
      walker.steps.clear();
    }
  }

  std::vector<AttackSample> samples_;
  AttackSettings settings_;
  Rng rng_;
  std::int64_t steps_;
  std::vector<Walker> walkers_;
  std::vector<std::int64_t> queries_;
  AttackQuestion question_;
  Phase phase_ = Phase::noise;
  std::int64_t direction_ = 0;
  int blend_ = 0;
  std::int64_t step_ = 0;
  bool checks_spherical_ = false;
};

}  // namespace
}  // namespace boundary_parts

namespace attack_methods::boundary {

static std::unique_ptr<Attack> make(std::vector<AttackSample> samples, const AttackSettings& settings) {
  return std::make_unique<boundary_parts::Boundary>(std::move(samples), settings);
}

void add_to(AttackMethodTable& table) {
  table.add({.order = 40,
             .name = "boundary",
             .help = "a random walk along the boundary towards the sample, 25,000 steps unless --steps says "
                     "otherwise; answers only",
             .make = make});
}

}  // namespace attack_methods::boundary

}  // namespace driftscope
