#include "core/inputs/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/numerics/portable_math.hpp"

namespace driftscope {
namespace {

constexpr double pi = std::numbers::pi;

// Slaney's Auditory Toolbox: linear below 1000 Hz, 27 steps to 6400 Hz above.
constexpr double slaney_step_hz = 200.0 / 3.0;
constexpr double slaney_edge_hz = 1000.0;
constexpr double slaney_edge_mel = 15.0;

double slaney_log_step() { return portable::log(6.4) / 27.0; }

double to_mel(MelScale scale, double hz) {
  if (scale == MelScale::htk) return 2595.0 * (portable::log(1.0 + hz / 700.0) / std::numbers::ln10);
  if (hz < slaney_edge_hz) return hz / slaney_step_hz;
  return slaney_edge_mel + portable::log(hz / slaney_edge_hz) / slaney_log_step();
}

double to_hz(MelScale scale, double mel) {
  if (scale == MelScale::htk) return 700.0 * (portable::exp(mel / 2595.0 * std::numbers::ln10) - 1.0);
  if (mel < slaney_edge_mel) return mel * slaney_step_hz;
  return slaney_edge_hz * portable::exp(slaney_log_step() * (mel - slaney_edge_mel));
}

}  // namespace

std::vector<double> sound_window(const AudioPreprocess& how) {
  std::vector<double> window(static_cast<std::size_t>(how.n_fft));
  const std::int64_t start = (how.n_fft - how.frame_length) / 2;
  for (std::int64_t i = 0; i < how.frame_length; ++i) {
    const double cosine =
        portable::cos(2.0 * pi * static_cast<double>(i) / static_cast<double>(how.frame_length));
    double w = 1.0;
    if (how.window == SoundWindow::hann) w = 0.5 - 0.5 * cosine;
    if (how.window == SoundWindow::hamming) w = 0.54 - 0.46 * cosine;
    window[static_cast<std::size_t>(start + i)] = w;
  }
  return window;
}

PowerSpectrum::PowerSpectrum(std::size_t n)
    : n_(n), cosine_(n), sine_(n), real_(n), imaginary_(n), work_(2 * n) {
  for (std::size_t i = 0; i < n; ++i) {
    const double angle = 2.0 * pi * static_cast<double>(i) / static_cast<double>(n);
    cosine_[i] = portable::cos(angle);
    sine_[i] = portable::sin(angle);
  }
}

// x has `count` values, `step` apart; count · step = n, so that root i of count is root i · step of n. The
// results of the halves lie behind each other, and are joined in place.
void PowerSpectrum::transform(const double* x, std::size_t step, std::size_t count, double* real,
                              double* imaginary) {
  if (count % 2 != 0) {
    for (std::size_t k = 0; k < count; ++k) {
      double re = 0.0, im = 0.0;
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t root = (k * i) % count * step;
        re += x[i * step] * cosine_[root];
        im -= x[i * step] * sine_[root];
      }
      real[k] = re;
      imaginary[k] = im;
    }
    return;
  }
  const std::size_t half = count / 2;
  transform(x, step * 2, half, real, imaginary);
  transform(x + step, step * 2, half, real + half, imaginary + half);
  for (std::size_t k = 0; k < half; ++k) {
    const double c = cosine_[k * step], s = sine_[k * step];
    const double re = real[half + k] * c + imaginary[half + k] * s;
    const double im = imaginary[half + k] * c - real[half + k] * s;
    real[half + k] = real[k] - re;
    imaginary[half + k] = imaginary[k] - im;
    real[k] += re;
    imaginary[k] += im;
  }
}

void PowerSpectrum::operator()(std::span<const double> x, std::span<double> power) {
  transform(x.data(), 1, n_, real_.data(), imaginary_.data());
  for (std::size_t k = 0; k <= n_ / 2; ++k) power[k] = real_[k] * real_[k] + imaginary_[k] * imaginary_[k];
}

std::vector<double> mel_filters(const AudioPreprocess& how) {
  const auto bins = static_cast<std::size_t>(how.mel_bins);
  const auto frequencies = static_cast<std::size_t>(how.n_fft / 2 + 1);
  const double high = how.high_hz > 0.0 ? how.high_hz : static_cast<double>(how.rate) / 2.0;
  const double low_mel = to_mel(how.mel_scale, how.low_hz);
  const double high_mel = to_mel(how.mel_scale, high);
  std::vector<double> edges(bins + 2);
  for (std::size_t i = 0; i < edges.size(); ++i)
    edges[i] = to_hz(how.mel_scale,
                     low_mel + (high_mel - low_mel) * static_cast<double>(i) / static_cast<double>(bins + 1));
  std::vector<double> filters(bins * frequencies);
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const double left = edges[bin], top = edges[bin + 1], right = edges[bin + 2];
    const double height = how.area_norm ? 2.0 / (right - left) : 1.0;
    for (std::size_t k = 0; k < frequencies; ++k) {
      const double hz =
          static_cast<double>(k) * static_cast<double>(how.rate) / static_cast<double>(how.n_fft);
      const double rise = (hz - left) / (top - left);
      const double fall = (right - hz) / (right - top);
      filters[bin * frequencies + k] = std::max(0.0, std::min(rise, fall)) * height;
    }
  }
  return filters;
}

}  // namespace driftscope
