// The elements of a tensor that are sampled for bias, and their errors. Few enough to be cheap, spread over
// the whole tensor. Clients: verify_tensor, which samples them while it has the reference;
// bias, which draws the conclusion.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/numerics/bounded.hpp"

namespace driftscope {

struct BiasSample {
  std::int64_t index;
  double value;
  double error;       ///< signed, in statistical budgets
  double systematic;  ///< allowed bias, in the same unit
  float got;
  std::uint32_t hash;  ///< of value and got
  bool operator==(const BiasSample&) const = default;

  [[nodiscard]] bool says_what(const BiasSample& other) const {
    return value == other.value && got == other.got;
  }
};

/// Samples of one part of a tensor, in its order, grouped by hash: equal samples lie in one group.
inline constexpr std::size_t bias_groups = 16;
using BiasPart = std::array<std::vector<BiasSample>, bias_groups>;
/// Part after part.
using BiasSamples = std::vector<BiasPart>;

/// Samples an element; skips it if it has no finite error, or no budget to measure it by.
inline void add_bias_sample(BiasPart& part, std::int64_t index, const Bounded& want, float got) {
  const auto result = static_cast<double>(got);
  if (!std::isfinite(result) || !std::isfinite(want.value) || !std::isfinite(want.likely) ||
      want.likely <= 0.0)
    return;
  // + 0.0: makes both zeros equal.
  std::uint64_t hash = std::bit_cast<std::uint64_t>(want.value + 0.0) * 0x9e3779b97f4a7c15u;
  hash = (hash ^ hash >> 32 ^ std::bit_cast<std::uint64_t>(result + 0.0)) * 0xc2b2ae3d27d4eb4fu;
  // The upper half: floats widened to double have zeros in the low bits, and so have their products.
  const auto upper = static_cast<std::uint32_t>(hash >> 32);
  part[upper % bias_groups].push_back(
      {index, want.value, (result - want.value) / want.likely, want.systematic / want.likely, got, upper});
}

/// The indices of the sampled elements, ascending.
class BiasPlaces {
 public:
  static constexpr std::int64_t max_samples = 1 << 16;

  explicit BiasPlaces(std::int64_t elements)
      : count_(std::min(elements, max_samples)),
        scale_(elements > max_samples ? elements : 1),
        shift_(elements > max_samples ? std::countr_zero(std::uint64_t{max_samples}) : 0) {}

  [[nodiscard]] std::int64_t count() const { return count_; }

  /// Evenly spread, but not in step with any axis: place k lies in the interval that starts at element
  /// k·elements/count, at the fraction frac(k·φ) of it.
  [[nodiscard]] std::int64_t operator[](std::int64_t k) const {
    const std::int64_t begin = (k * scale_) >> shift_;
    const std::int64_t stretch = (((k + 1) * scale_) >> shift_) - begin;
    const double golden = static_cast<double>(k) * 0.6180339887498949;
    const double fraction = golden - static_cast<double>(static_cast<std::int64_t>(golden));
    return begin + static_cast<std::int64_t>(fraction * static_cast<double>(stretch));
  }

  /// The first place at or after `element`; count() when there is none.
  [[nodiscard]] std::int64_t first_from(std::int64_t element) const {
    std::int64_t k = std::min((element << shift_) / scale_, count_);
    while (k > 0 && (*this)[k - 1] >= element) --k;
    while (k < count_ && (*this)[k] < element) ++k;
    return k;
  }

 private:
  std::int64_t count_;
  std::int64_t scale_;
  int shift_;
};

/// All elements of a tensor, as one part.
[[nodiscard]] inline BiasPart take_bias_samples(std::span<const Bounded> reference,
                                                std::span<const float> got) {
  const BiasPlaces places(static_cast<std::int64_t>(reference.size()));
  BiasPart part;
  for (std::int64_t k = 0; k < places.count(); ++k) {
    const std::int64_t place = places[k];
    const auto at = static_cast<std::size_t>(place);
    add_bias_sample(part, place, reference[at], got[at]);
  }
  return part;
}

}  // namespace driftscope
