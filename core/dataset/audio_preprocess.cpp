#include "core/dataset/audio_preprocess.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/json.hpp"
#include "core/dataset/description_fields.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

constexpr std::int64_t max_rate = 768000;
constexpr std::int64_t max_length = std::int64_t{1} << 28;
constexpr std::int64_t max_mel_bins = 1024;

Result<double> number_field(const json& object, const char* key, double otherwise) {
  const auto value = object.find(key);
  if (value == object.end()) return otherwise;
  if (!value->is_number() || !std::isfinite(value->get<double>()))
    return bad_input(fmt::format("{} is not a finite number", key));
  return value->get<double>();
}

/// 0 where the field is absent.
Result<std::int64_t> size_field(const json& object, const char* key, std::int64_t most) {
  DRIFTSCOPE_TRY(const auto size, description_index(object, key));
  if (!size) return std::int64_t{0};
  if (*size < 1 || *size > most)
    return bad_input(fmt::format("{} is {}, expected 1 to {}", key, *size, most));
  return *size;
}

template <class Choice>
Status choose(const json& object, const char* key, const std::vector<std::string>& names, Choice& choice) {
  DRIFTSCOPE_TRY(const std::size_t place, description_choice(object, key, names));
  choice = static_cast<Choice>(place);
  return {};
}

Status read_frames(const json& object, AudioPreprocess& how) {
  DRIFTSCOPE_TRY(how.n_fft, description_size(object, "n_fft"));
  DRIFTSCOPE_TRY(how.hop_length, description_size(object, "hop_length"));
  DRIFTSCOPE_TRY(how.frame_length, size_field(object, "frame_length", how.n_fft));
  if (how.frame_length == 0) how.frame_length = how.n_fft;
  DRIFTSCOPE_CHECK(choose(object, "window", {"hann", "hamming", "rectangular"}, how.window));
  DRIFTSCOPE_TRY(how.center, description_flag(object, "center"));
  DRIFTSCOPE_TRY(how.magnitude, description_flag(object, "magnitude"));
  DRIFTSCOPE_TRY(how.frames, size_field(object, "frames", max_length));
  return choose(object, "axes", {"features_time", "time_features"}, how.axes);
}

Status read_mel(const json& object, AudioPreprocess& how) {
  DRIFTSCOPE_TRY(how.mel_bins, size_field(object, "mel_bins", max_mel_bins));
  if (how.mel_bins == 0) return bad_input("mel_bins is missing");
  DRIFTSCOPE_TRY(how.low_hz, number_field(object, "low_hz", 0.0));
  DRIFTSCOPE_TRY(how.high_hz, number_field(object, "high_hz", static_cast<double>(how.rate) / 2.0));
  if (how.low_hz < 0.0 || how.high_hz < how.low_hz + 1.0 || how.high_hz > static_cast<double>(how.rate) / 2.0)
    return bad_input(
        fmt::format("low_hz {} and high_hz {}: expected 0 ≤ low, low + 1 ≤ high ≤ {}, half the rate",
                    how.low_hz, how.high_hz, static_cast<double>(how.rate) / 2.0));
  DRIFTSCOPE_CHECK(choose(object, "mel_scale", {"htk", "slaney"}, how.mel_scale));
  DRIFTSCOPE_TRY(how.area_norm, description_flag(object, "area_norm"));
  return {};
}

Status read_log(const json& object, AudioPreprocess& how) {
  DRIFTSCOPE_CHECK(choose(object, "log", {"none", "natural", "log10", "decibel"}, how.log));
  DRIFTSCOPE_TRY(how.floor, number_field(object, "floor", 1e-10));
  if (!(how.floor > 0.0)) return bad_input(fmt::format("floor is {}, expected more than 0", how.floor));
  DRIFTSCOPE_TRY(how.range, number_field(object, "range", 0.0));
  if (how.range < 0.0) return bad_input(fmt::format("range is {}, expected 0 or more", how.range));
  DRIFTSCOPE_TRY(how.offset, number_field(object, "offset", 0.0));
  DRIFTSCOPE_TRY(how.factor, number_field(object, "factor", 1.0));
  return {};
}

Result<AudioPreprocess> read_sound_rules(std::string_view json_text) {
  DRIFTSCOPE_TRY(const json object, parse_description_object(json_text));
  AudioPreprocess how;
  DRIFTSCOPE_TRY(how.input, description_text(object, "input"));
  DRIFTSCOPE_TRY(how.rate, size_field(object, "rate", max_rate));
  if (how.rate == 0) return bad_input("rate is missing: samples per second, as 16000");
  DRIFTSCOPE_TRY(how.length, size_field(object, "length", max_length));
  DRIFTSCOPE_TRY(const std::size_t pad_side, description_choice(object, "pad_side", {"right", "left"}));
  how.pad_side = pad_side == 0 ? Side::right : Side::left;
  DRIFTSCOPE_TRY(const std::size_t keep, description_choice(object, "keep", {"start", "end"}));
  how.keep = keep == 0 ? Side::left : Side::right;
  DRIFTSCOPE_TRY(how.scale, number_field(object, "scale", 1.0));
  DRIFTSCOPE_CHECK(choose(object, "features", {"waveform", "spectrogram", "mel"}, how.features));
  const bool waves = how.features == SoundFeatures::waveform;
  if (!waves) DRIFTSCOPE_CHECK(read_frames(object, how));
  if (how.features == SoundFeatures::mel) DRIFTSCOPE_CHECK(read_mel(object, how));
  if (!waves) DRIFTSCOPE_CHECK(read_log(object, how));
  DRIFTSCOPE_TRY(how.rank, size_field(object, "rank", 5));
  if (how.rank == 0) how.rank = waves ? 2 : 3;
  if (!waves && how.rank < 2) return bad_input("rank is 1, but a spectrogram has two axes");
  DRIFTSCOPE_TRY(how.labels, description_texts(object, "labels"));
  return how;
}

}  // namespace

bool describes_audio(std::string_view json_text) {
  const json object = parse_json(json_text);
  if (!object.is_object()) return false;
  const auto kind = object.find("kind");
  return kind != object.end() && kind->is_string() && kind->get<std::string>() == "audio";
}

Result<AudioPreprocess> parse_audio_preprocess(std::string_view json_text) {
  auto how = read_sound_rules(json_text);
  if (!how.ok()) return in_context(std::move(how).error(), "preprocessing description");
  return how;
}

}  // namespace driftscope
