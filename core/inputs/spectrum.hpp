// Spectra of sounds, bit for bit: windows, the discrete Fourier transform, mel filters. Double precision with
// + − × ÷ √ and the portable functions, in a fixed order. Client: sound.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/dataset/audio_preprocess.hpp"

namespace driftscope {

/// The window of frame_length, in the middle of n_fft values.
[[nodiscard]] std::vector<double> sound_window(const AudioPreprocess& how);

/// |X|² of real values at 0 to n / 2 cycles: halves while n is even, then a sum over the odd rest.
class PowerSpectrum {
 public:
  explicit PowerSpectrum(std::size_t n);
  /// `x` has n values, `power` n / 2 + 1.
  void operator()(std::span<const double> x, std::span<double> power);

 private:
  void transform(const double* x, std::size_t step, std::size_t count, double* real, double* imaginary);

  std::size_t n_;
  std::vector<double> cosine_, sine_;  // of 2π i / n
  std::vector<double> real_, imaginary_, work_;
};

/// mel_bins rows of n_fft / 2 + 1 weights: triangles that meet their neighbours' tops.
[[nodiscard]] std::vector<double> mel_filters(const AudioPreprocess& how);

}  // namespace driftscope
