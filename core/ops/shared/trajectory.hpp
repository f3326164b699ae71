// The states of one sequence, step after step. For Bounded also their possible errors.
// Client: recurrent_run.hpp.
//
// Where the engine recorded h after every step (output Y), each step is judged from there: interval
// arithmetic over one step is rigorous and tight. An LSTM's c is not recorded; its error shrinks by the
// forget gate, element by element, from step to step.
//
// Where only the last state is known, errors pass through the network. Interval arithmetic assumes that the
// errors of all elements of h conspire in every product R·h; it is rigorous, and after a few dozen steps of a
// hidden layer of usual width useless: its error grows by the largest row sum of |R| where the network itself
// contracts. So the bound is the smaller of two:
// - the interval bound;
// - a measured one. Each step's own error (computed with bounds from an exact state: rigorous) is put into
//   several runs in double, with random signs that change from step to step in one half of the runs and stay
//   in the other (repeated inputs repeat the same error). The distance of these runs from the
//   unperturbed one is the actual effect of such errors in this network.
//   likely: 4 times that. worst: 32 times that with the worst error of each step: as if a thousand
//   independent errors conspired (the sum of n numbers is at most √n times the root of their squares).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/rng.hpp"
#include "core/ops/shared/activation.hpp"
#include "core/ops/shared/gate_sums.hpp"

namespace driftscope {

/// The parameters of a cell in one direction.
template <class S>
struct CellWeights {
  std::int64_t hidden = 0;
  GateMatrix<S> w;
  GateMatrix<S> r;
  std::vector<S> b;  ///< W's biases, then R's; or empty
  std::vector<S> p;  ///< peepholes; or empty
  std::vector<Activation> activations;
  std::optional<float> clip;
  bool variant = false;
  bool clips_cell = true;  ///< LSTM: of h(C) as well

  [[nodiscard]] const S* w_bias() const { return b.empty() ? nullptr : b.data(); }
  [[nodiscard]] const S* r_bias() const { return b.empty() ? nullptr : b.data() + b.size() / 2; }
  /// Clips the input of an activation.
  [[nodiscard]] S limited(const S& x) const {
    if (!clip) return x;
    const auto limit = static_cast<double>(*clip);
    return math::min(math::max(x, math::exact<S>(-limit)), math::exact<S>(limit));
  }
  [[nodiscard]] S activated(std::size_t i, const S& x) const { return activate(activations[i], limited(x)); }
  /// h(C) of LSTM.
  [[nodiscard]] S activated_cell(const S& c) const {
    return activate(activations[2], clips_cell ? limited(c) : c);
  }
};

/// The same weights without their errors.
[[nodiscard]] inline CellWeights<double> plain_weights(const CellWeights<Bounded>& weights) {
  const auto values = [](const std::vector<Bounded>& list) {
    std::vector<double> result(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) result[i] = list[i].value;
    return result;
  };
  return {weights.hidden,      weights.w.value, weights.r.value, values(weights.b), values(weights.p),
          weights.activations, weights.clip,    weights.variant, weights.clips_cell};
}

template <class Cell, class S>
class Trajectory {
 public:
  Trajectory(const CellWeights<S>& weights, std::vector<S> initial)
      : weights_(weights), state_(std::move(initial)), next_(state_.size()) {}

  /// One step; `sums` holds the biases and the products of x, and is overwritten.
  void advance(GateSums<S>& sums) {
    Cell::step(weights_, sums, state_.data(), next_.data(), spare_);
    state_.swap(next_);
  }
  [[nodiscard]] std::span<const S> state() const { return state_; }

 private:
  const CellWeights<S>& weights_;
  std::vector<S> state_;
  std::vector<S> next_;
  std::vector<S> spare_;
};

template <class Cell>
class Trajectory<Cell, Bounded> {
 public:
  Trajectory(const CellWeights<Bounded>& weights, std::vector<Bounded> initial)
      : weights_(weights),
        plain_(plain_weights(weights)),
        interval_(initial),
        next_(initial.size()),
        exact_(initial.size()),
        local_(initial),
        result_(std::move(initial)),
        plain_sums_(Cell::sums(weights)),
        plain_next_(result_.size()) {
    for (const Activation& activation : weights.activations)
      measurable_ = measurable_ && activation.continuous();
    for (std::size_t m = 0; m < runs; ++m) {
      signs_[m].resize(result_.size());
      states_[m].resize(result_.size());
      for (std::size_t j = 0; j < result_.size(); ++j) states_[m][j] = result_[j].value;
      draw_signs(m);
      disturb(m);
    }
    note_ratio();
  }

  void advance(GateSums<Bounded>& sums) {
    sums.copy_values(plain_sums_);
    sums_ = sums;
    for (std::size_t j = 0; j < exact_.size(); ++j) exact_[j] = Bounded(interval_[j].value);
    Cell::step(weights_, sums_, exact_.data(), local_.data(), spare_);
    Cell::step(weights_, sums, interval_.data(), next_.data(), spare_);
    interval_.swap(next_);
    result_ = interval_;
    if (!measurable_) return;
    note_ratio();
    for (std::size_t m = 0; m < runs; ++m) {
      plain_run_ = plain_sums_;
      Cell::step(plain_, plain_run_, states_[m].data(), plain_next_.data(), plain_spare_);
      states_[m].swap(plain_next_);
      if (m >= runs / 2) draw_signs(m);
      disturb(m);
    }
    for (std::size_t s = 0; s < Cell::states; ++s) measure(s);
  }

  [[nodiscard]] std::span<const Bounded> state() const { return result_; }

  /// The next step begins with the engine's own h; to be called after every step or never.
  void continue_from(std::span<const float> h) {
    measurable_ = false;
    for (std::size_t j = 0; j < h.size(); ++j) {
      const auto value = static_cast<double>(h[j]);
      interval_[j] = Bounded(value);
      if (current_error_model().flushes_subnormals && std::fabs(value) < 0x1p-126)
        interval_[j].worst = interval_[j].likely = interval_[j].systematic = std::fabs(value);
    }
  }

 private:
  static constexpr std::size_t runs = 4;
  static constexpr double likely_factor = 4.0;
  static constexpr double worst_factor = 32.0;

  void draw_signs(std::size_t m) {
    for (double& sign : signs_[m]) sign = (rng_.next() >> 63) != 0 ? 1.0 : -1.0;
  }
  void disturb(std::size_t m) {
    for (std::size_t j = 0; j < local_.size(); ++j) states_[m][j] += signs_[m][j] * local_[j].likely;
  }
  // The runs are perturbed by `likely`; `worst` is larger by at most this ratio.
  void note_ratio() {
    for (const Bounded& x : local_)
      if (x.likely > 0.0) ratio_ = std::fmax(ratio_, x.worst / x.likely);
  }

  // An element counts at least as much as the average one: four runs say little about a single one.
  void measure(std::size_t s) {
    const auto hidden = static_cast<std::size_t>(weights_.hidden);
    std::vector<double>& strayed = strayed_;
    strayed.assign(hidden, 0.0);
    double all = 0.0;
    for (std::size_t j = 0; j < hidden; ++j) {
      for (const std::vector<double>& state : states_) {
        const double difference = state[s * hidden + j] - interval_[s * hidden + j].value;
        strayed[j] += difference * difference / static_cast<double>(runs);
      }
      all += strayed[j] / static_cast<double>(hidden);
    }
    for (std::size_t j = 0; j < hidden; ++j) {
      Bounded& x = result_[s * hidden + j];
      const double distance = std::sqrt(std::fmax(strayed[j], all));
      // If a run is not finite, nothing was measured.
      if (!(distance < std::numeric_limits<double>::infinity()) || strayed[j] != strayed[j]) continue;
      const Bounded& local = local_[s * hidden + j];
      x.worst = std::fmin(x.worst, worst_factor * ratio_ * distance + local.worst);
      x.likely = std::fmin(std::fmin(x.likely, likely_factor * distance + local.likely), x.worst);
      x.systematic = x.likely;
    }
  }

  const CellWeights<Bounded>& weights_;
  const CellWeights<double> plain_;
  bool measurable_ = true;
  std::vector<Bounded> interval_;
  std::vector<Bounded> next_;
  std::vector<Bounded> exact_;  // the same state without errors
  std::vector<Bounded> local_;  // one step from there
  std::vector<Bounded> result_;
  std::vector<Bounded> spare_;
  GateSums<Bounded> sums_;
  GateSums<double> plain_sums_;
  GateSums<double> plain_run_;
  std::vector<double> plain_next_;
  std::vector<double> plain_spare_;
  std::array<std::vector<double>, runs> states_;
  std::array<std::vector<double>, runs> signs_;
  std::vector<double> strayed_;
  double ratio_ = 1.0;
  Rng rng_{0x5eed};
};

}  // namespace driftscope
