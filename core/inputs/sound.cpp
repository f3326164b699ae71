#include "core/inputs/sound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/dataset/wav.hpp"
#include "core/inputs/name_patterns.hpp"
#include "core/inputs/spectrum.hpp"
#include "core/numerics/portable_math.hpp"

namespace driftscope {
namespace {

/// The samples, scaled, in the length that is wanted.
std::vector<double> fitted(const AudioPreprocess& how, const std::vector<float>& samples) {
  const auto have = samples.size();
  const auto want = how.length > 0 ? static_cast<std::size_t>(how.length) : have;
  const std::size_t skip = have > want && how.keep == Side::right ? have - want : 0;
  const std::size_t at = have < want && how.pad_side == Side::left ? want - have : 0;
  std::vector<double> fit(want);
  for (std::size_t i = 0; i < std::min(have, want); ++i)
    fit[at + i] = static_cast<double>(samples[skip + i]) * how.scale;
  return fit;
}

/// Of samples or scales that are far too large.
Status expect_finite(std::span<const float> values) {
  if (std::ranges::all_of(values, [](float x) { return std::isfinite(x); })) return {};
  return bad_input("what the description makes of the sound is not finite: see its scale, offset and factor");
}

/// Leading axes of 1 before the last ones.
Shape shape_of(const AudioPreprocess& how, std::initializer_list<std::int64_t> last) {
  Shape shape(static_cast<std::size_t>(how.rank) - last.size(), 1);
  shape.insert(shape.end(), last);
  return shape;
}

/// Reflected at both ends, as numpy's pad("reflect"): the end itself is not repeated.
std::vector<double> reflected(const std::vector<double>& x, std::size_t pad) {
  std::vector<double> padded;
  padded.reserve(x.size() + 2 * pad);
  for (std::size_t i = pad; i > 0; --i) padded.push_back(x[i]);
  padded.insert(padded.end(), x.begin(), x.end());
  for (std::size_t i = 0; i < pad; ++i) padded.push_back(x[x.size() - 2 - i]);
  return padded;
}

double logarithm(const AudioPreprocess& how, double x) {
  if (how.log == SoundLog::none) return x;
  const double natural = portable::log(std::max(x, how.floor));
  if (how.log == SoundLog::natural) return natural;
  const double decimal = natural / std::numbers::ln10;
  return how.log == SoundLog::decimal ? decimal : 10.0 * decimal;
}

/// One column per frame, features × frames.
class Spectrogram {
 public:
  explicit Spectrogram(const AudioPreprocess& how)
      : how_(how),
        window_(sound_window(how)),
        spectrum_(static_cast<std::size_t>(how.n_fft)),
        frame_(static_cast<std::size_t>(how.n_fft)),
        power_(static_cast<std::size_t>(how.n_fft / 2 + 1)) {
    if (how.features == SoundFeatures::mel) filters_ = mel_filters(how);
  }

  [[nodiscard]] std::size_t features() const {
    return how_.features == SoundFeatures::mel ? static_cast<std::size_t>(how_.mel_bins) : power_.size();
  }

  void column(const double* samples, std::span<double> out) {
    for (std::size_t i = 0; i < frame_.size(); ++i) frame_[i] = samples[i] * window_[i];
    spectrum_(frame_, power_);
    if (how_.magnitude)
      for (double& x : power_) x = std::sqrt(x);
    for (std::size_t f = 0; f < out.size(); ++f) {
      double sum = 0.0;
      if (filters_.empty())
        sum = power_[f];
      else
        for (std::size_t k = 0; k < power_.size(); ++k) sum += filters_[f * power_.size() + k] * power_[k];
      out[f] = logarithm(how_, sum);
    }
  }

 private:
  const AudioPreprocess& how_;
  std::vector<double> window_;
  PowerSpectrum spectrum_;
  std::vector<double> frame_, power_, filters_;
};

Result<Tensor> spectrogram(const AudioPreprocess& how, std::vector<double> samples) {
  const auto n_fft = static_cast<std::size_t>(how.n_fft);
  const std::size_t pad = how.center ? n_fft / 2 : 0;
  if (samples.size() < (how.center ? pad + 1 : n_fft))
    return bad_input(fmt::format("{} samples are too few for a frame of {}; \"length\" pads shorter sounds",
                                 samples.size(), n_fft));
  if (pad > 0) samples = reflected(samples, pad);
  std::size_t frames = 1 + (samples.size() - n_fft) / static_cast<std::size_t>(how.hop_length);
  const auto wanted = static_cast<std::size_t>(how.frames);
  if (wanted > frames)
    return bad_input(fmt::format("{} frames, expected {}; \"length\" pads shorter sounds", frames, wanted));
  if (wanted > 0) frames = wanted;
  Spectrogram columns(how);
  const std::size_t features = columns.features();
  const bool time_last = how.axes == SoundAxes::features_time;
  const auto rows = static_cast<std::int64_t>(features), steps = static_cast<std::int64_t>(frames);
  const Shape shape = time_last ? shape_of(how, {rows, steps}) : shape_of(how, {steps, rows});
  DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(DType::float32, shape, "sound"));
  std::vector<double> values(features * frames);
  for (std::size_t t = 0; t < frames; ++t)
    columns.column(samples.data() + t * static_cast<std::size_t>(how.hop_length),
                   std::span(values).subspan(t * features, features));
  const double least = how.range > 0.0 ? *std::ranges::max_element(values) - how.range : -HUGE_VAL;
  const auto out = tensor.mutable_values<float>();
  for (std::size_t t = 0; t < frames; ++t)
    for (std::size_t f = 0; f < features; ++f) {
      const double x = (std::max(values[t * features + f], least) + how.offset) * how.factor;
      out[time_last ? f * frames + t : t * features + f] = static_cast<float>(x);
    }
  DRIFTSCOPE_CHECK(expect_finite(out));
  return tensor;
}

}  // namespace

bool is_sound_name(std::string_view name) { return lower_case(name).ends_with(".wav"); }

Result<Tensor> read_sound(const AudioPreprocess& how, std::span<const std::byte> wav) {
  DRIFTSCOPE_TRY(const Sound sound, read_wav(wav));
  if (sound.rate != how.rate)
    return bad_input(
        fmt::format("the sound has {} Hz, the model takes {} Hz; convert it, as with sox FILE -r {} OUT.wav",
                    sound.rate, how.rate, how.rate));
  if (sound.samples.empty()) return bad_input("the sound has no samples");
  std::vector<double> samples = fitted(how, sound.samples);
  if (how.features != SoundFeatures::waveform) return spectrogram(how, std::move(samples));
  DRIFTSCOPE_TRY(
      Tensor tensor,
      Tensor::make(DType::float32, shape_of(how, {static_cast<std::int64_t>(samples.size())}), "sound"));
  std::ranges::transform(samples, tensor.mutable_values<float>().begin(),
                         [](double x) { return static_cast<float>(x); });
  DRIFTSCOPE_CHECK(expect_finite(tensor.values<float>()));
  return tensor;
}

}  // namespace driftscope
