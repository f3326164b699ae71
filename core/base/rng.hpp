// A seeded random number generator with the same sequence on every platform and standard library.
// For inputs and tests; not for secrets.
#pragma once

#include <cstdint>

namespace driftscope {

/// SplitMix64 (Steele, Lea, Flood 2014). One 64-bit word of state; every seed is a good seed.
class Rng {
 public:
  explicit constexpr Rng(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

  /// An integer in [0, bound); bound must be positive. The bias is below 2⁻³² for bounds below 2³².
  constexpr std::uint64_t below(std::uint64_t bound) { return next() % bound; }

  /// A float in [0, 1): a multiple of 2⁻²⁴, so every operation here is exact.
  constexpr float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24f; }

  /// A float in [low, high), rounded.
  constexpr float uniform(float low, float high) { return low + (high - low) * uniform(); }

  /// About standard normal (the sum of twelve uniforms, minus six): only + and −, so the same bits
  /// everywhere.
  constexpr float normal() {
    float sum = -6.0f;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  std::uint64_t state_;
};

}  // namespace driftscope
