#include "core/mutants/coverage.hpp"

#include <algorithm>
#include <cmath>

namespace driftscope {
namespace {

constexpr int sections_in_range = 1000;
constexpr int sections_beyond = 11;  // 10, and one for all further

class SectionCoverage final : public Coverage {
 public:
  SectionCoverage(bool beyond, std::span<const Activations> originals)
      : beyond_(beyond), sections_(beyond ? 2 * sections_beyond : sections_in_range) {
    low_ = high_ = originals[0].neurons;
    for (const Activations& run : originals)
      for (std::size_t i = 0; i < low_.size(); ++i) {
        low_[i] = std::min(low_[i], run.neurons[i]);
        high_[i] = std::max(high_[i], run.neurons[i]);
      }
    covered_.resize(low_.size() * static_cast<std::size_t>(sections_));
  }

  bool adds(const Activations& run) override {
    bool added = false;
    for (std::size_t i = 0; i < low_.size(); ++i) {
      const int section = section_of(run.neurons[i], low_[i], high_[i]);
      if (section < 0) continue;
      auto bit = covered_[i * static_cast<std::size_t>(sections_) + static_cast<std::size_t>(section)];
      if (bit) continue;
      bit = true;
      added = true;
      ++count_;
    }
    return added;
  }

  void forget() override {
    std::fill(covered_.begin(), covered_.end(), false);
    count_ = 0;
  }

  double share() const override {
    return covered_.empty() ? 0.0 : static_cast<double>(count_) / static_cast<double>(covered_.size());
  }

 private:
  [[nodiscard]] int section_of(double x, double low, double high) const {
    const double width = (high - low) / sections_in_range;
    const bool inside = low <= x && x <= high;
    if (!beyond_) {
      if (!inside || !(width > 0)) return -1;
      return std::min(static_cast<int>((x - low) / width), sections_in_range - 1);
    }
    if (inside || !std::isfinite(x)) return -1;
    // A neuron that never changed has no width of its own: DeepHunter's 0.05.
    const double away = (x < low ? low - x : x - high) / (width > 0 ? width : 0.05);
    const int section = away >= sections_beyond - 1 ? sections_beyond - 1 : static_cast<int>(away);
    return x < low ? section : sections_beyond + section;
  }

  bool beyond_;
  int sections_;
  std::vector<float> low_, high_;
  std::vector<bool> covered_;
  std::int64_t count_ = 0;
};

/// Compared with all, not by an approximate index: outputs are few, and most are near a recent one.
class NeighbourCoverage final : public Coverage {
 public:
  bool adds(const Activations& run) override {
    const std::size_t n = run.outputs.size();
    if (!std::ranges::all_of(run.outputs, [](float x) { return std::isfinite(x); })) return false;
    for (std::size_t begin = kept_.size(); begin >= n && n > 0; begin -= n) {
      double distance = 0.0;
      for (std::size_t i = 0; i < n; ++i) {
        const double apart = static_cast<double>(run.outputs[i]) - kept_[begin - n + i];
        distance += apart * apart;
      }
      if (distance <= 1.0) return false;
    }
    kept_.insert(kept_.end(), run.outputs.begin(), run.outputs.end());
    return true;
  }

  void forget() override { kept_.clear(); }
  double share() const override { return -1.0; }

 private:
  std::vector<float> kept_;
};

}  // namespace

std::unique_ptr<Coverage> make_coverage(Criterion criterion, std::span<const Activations> originals) {
  if (criterion == Criterion::neighbour) return std::make_unique<NeighbourCoverage>();
  return std::make_unique<SectionCoverage>(criterion == Criterion::nbc, originals);
}

}  // namespace driftscope
