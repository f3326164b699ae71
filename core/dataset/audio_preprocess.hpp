// How a sound becomes a model's input: the description MODEL.preprocess.json of an audio model (format:
// assets/README.md), as samples or as a spectrogram. Its arithmetic is in core/inputs/sound.cpp.
// Clients: dataset, the source of single files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/dataset/text_preprocess.hpp"

namespace driftscope {

enum class SoundFeatures { waveform, spectrogram, mel };
enum class SoundWindow { hann, hamming, rectangular };
enum class MelScale { htk, slaney };
enum class SoundLog { none, natural, decimal, decibel };
enum class SoundAxes { features_time, time_features };

struct AudioPreprocess {
  std::string input;        ///< name of the graph input
  std::int64_t rate = 0;    ///< Hz; sounds of another rate are an error
  std::int64_t length = 0;  ///< samples; shorter sounds are padded with zeros; 0: as the sound has
  Side pad_side = Side::right;
  Side keep = Side::left;  ///< of a sound that is too long: left keeps its start
  double scale = 1.0;      ///< of samples, which are within [−1, 1)
  std::int64_t rank = 0;   ///< of the tensor: leading axes of 1 are added
  std::vector<std::string> labels;

  SoundFeatures features = SoundFeatures::waveform;
  std::int64_t n_fft = 0;
  std::int64_t frame_length = 0;  ///< of the window, in the middle of n_fft; at most n_fft
  std::int64_t hop_length = 0;
  SoundWindow window = SoundWindow::hann;  ///< periodic
  bool center = false;      ///< frame i is around sample i · hop, the sound reflected at its ends
  bool magnitude = false;   ///< |X|, else |X|²
  std::int64_t frames = 0;  ///< only so many; 0: all
  std::int64_t mel_bins = 0;
  double low_hz = 0.0;
  double high_hz = 0.0;  ///< 0: half the rate
  MelScale mel_scale = MelScale::htk;
  bool area_norm = false;  ///< each triangle has the area 1 over Hz (Slaney), else the height 1
  SoundLog log = SoundLog::none;
  double floor = 1e-10;  ///< smaller values are raised to it before the logarithm
  double range = 0.0;    ///< after the logarithm: at least the greatest value less this; 0: no limit
  double offset = 0.0;   ///< (x + offset) · factor, last of all
  double factor = 1.0;
  SoundAxes axes = SoundAxes::features_time;
};

/// Whether the JSON text describes sounds ("kind": "audio").
[[nodiscard]] bool describes_audio(std::string_view json_text);

/// Reads the JSON text; every wrong or missing field is named.
[[nodiscard]] Result<AudioPreprocess> parse_audio_preprocess(std::string_view json_text);

}  // namespace driftscope
