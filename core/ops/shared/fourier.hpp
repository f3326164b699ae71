// The discrete Fourier transform of one lane, by its definition, for each scalar. Clients: DFT,
// STFT.
//
// Strict definition (float): twiddle factors computed in double and rounded to float32, those of
// whole quarters of a turn exact; for each bin one accumulator for the real and one for the
// imaginary part, in the order of the input, each adding the product with the real part first. The
// bound covers fast transforms too: their roundings grow with log₂ n.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/numerics/math.hpp"
#include "core/numerics/sum.hpp"

namespace driftscope {

/// Products that one node may need: n per bin.
inline constexpr std::int64_t max_fourier_products = std::int64_t{1} << 38;

template <class S>
class Fourier {
 public:
  explicit Fourier(std::int64_t length, bool inverse) : length_(length), inverse_(inverse) {
    constexpr double turn = 6.283185307179586476925286766559;
    for (std::int64_t i = 0; i < length; ++i) {
      const double angle = turn * static_cast<double>(i) / static_cast<double>(length);
      cos_.push_back(twiddle(i * 4 % length == 0 ? quarter(i * 4 / length + 1) : math::cos(angle)));
      sin_.push_back(twiddle(i * 4 % length == 0 ? quarter(i * 4 / length) : math::sin(angle)));
    }
    for (std::int64_t size = 1; size < length; size *= 2) ++levels_;
  }

  /// A bin of the lane whose real and imaginary parts these are; the latter may be empty.
  void bin(std::int64_t k, std::span<const S> re, std::span<const S> im, S& out_re, S& out_im) const {
    Sum<S> real = empty_sum();
    Sum<S> imaginary = empty_sum();
    std::int64_t at = 0;  // k·j modulo n
    for (std::size_t j = 0; j < re.size(); ++j) {
      const S& c = cos_[static_cast<std::size_t>(at)];
      const S& sine = sin_[static_cast<std::size_t>(at)];
      const S s = inverse_ ? -sine : sine;
      real.add_product(re[j], c);
      imaginary.add_product(re[j], -s);
      if (!im.empty()) {
        real.add_product(im[j], s);
        imaginary.add_product(im[j], c);
      }
      at += k;
      if (at >= length_) at -= length_;
    }
    out_re = scaled(real.result());
    out_im = scaled(imaginary.result());
  }

 private:
  /// The sine after this number of quarter turns, exactly.
  static double quarter(std::int64_t quarters) {
    constexpr std::array<double, 4> sines = {0.0, 1.0, 0.0, -1.0};
    return sines[static_cast<std::size_t>(quarters % 4)];
  }

  static S twiddle(double value) {
    if constexpr (std::is_same_v<S, Bounded>) {
      const double error = 12.0 * current_error_model().unit_roundoff;
      return {value, error, error};
    } else {
      return static_cast<S>(value);
    }
  }
  [[nodiscard]] Sum<S> empty_sum() const {
    Sum<S> sum;
    if constexpr (std::is_same_v<S, Bounded>)
      for (int i = 0; i < 4 + 8 * levels_; ++i) sum.round_once_more();
    return sum;
  }
  [[nodiscard]] S scaled(const S& x) const {
    return inverse_ ? x / math::exact<S>(static_cast<double>(length_)) : x;
  }

  std::int64_t length_;
  bool inverse_;
  int levels_ = 0;
  std::vector<S> cos_;
  std::vector<S> sin_;
};

}  // namespace driftscope
