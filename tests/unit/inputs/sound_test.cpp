// Sounds: WAV files, descriptions, spectra.
#include "core/inputs/sound.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "core/dataset/dataset.hpp"
#include "core/dataset/wav.hpp"
#include "core/inputs/spectrum.hpp"
#include "unit/support/text.hpp"

namespace driftscope::test::sound_test {
namespace {

std::string little_endian(std::uint32_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

std::string chunk(const std::string& name, const std::string& data) {
  return name + little_endian(static_cast<std::uint32_t>(data.size()), 4) + data +
         std::string(data.size() % 2, '\0');
}

std::string format_chunk(std::uint32_t encoding, std::uint32_t channels, std::uint32_t rate,
                         std::uint32_t bits) {
  const std::uint32_t frame = channels * bits / 8;
  return chunk("fmt ", little_endian(encoding, 2) + little_endian(channels, 2) + little_endian(rate, 4) +
                           little_endian(rate * frame, 4) + little_endian(frame, 2) + little_endian(bits, 2));
}

std::string riff(const std::string& chunks) {
  return "RIFF" + little_endian(static_cast<std::uint32_t>(chunks.size() + 4), 4) + "WAVE" + chunks;
}

std::string wav(std::uint32_t encoding, std::uint32_t channels, std::uint32_t bits, const std::string& data) {
  return riff(format_chunk(encoding, channels, 16000, bits) + chunk("data", data));
}

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

std::vector<float> samples(const std::string& file) {
  const auto sound = read_wav(bytes(file));
  REQUIRE_MESSAGE(sound.ok(), sound.error().message);
  CHECK(sound->rate == 16000);
  return sound->samples;
}

std::string failure(const std::string& file) {
  const auto sound = read_wav(bytes(file));
  REQUIRE_MESSAGE(!sound.ok(), "accepted");
  return sound.error().message;
}

std::string float_bytes(const std::vector<float>& values) {
  std::string data;
  for (const float x : values) data += little_endian(std::bit_cast<std::uint32_t>(x), 4);
  return data;
}

AudioPreprocess described(const std::string& more) {
  const auto how = parse_audio_preprocess(
      R"({"format": "driftscope-preprocess-1", "kind": "audio", "input": "x", "rate": 16000)" + more + "}");
  REQUIRE_MESSAGE(how.ok(), how.error().message);
  return *how;
}

std::string refusal(const std::string& text) {
  const auto how = parse_audio_preprocess(text);
  REQUIRE_MESSAGE(!how.ok(), "accepted: " << text);
  return how.error().message;
}

std::string with(const std::string& more) {
  return R"({"format": "driftscope-preprocess-1", "kind": "audio", "input": "x", "rate": 16000)" + more + "}";
}

Tensor made(const std::string& more, const std::vector<float>& sound) {
  auto tensor = read_sound(described(more), bytes(wav(3, 1, 32, float_bytes(sound))));
  REQUIRE_MESSAGE(tensor.ok(), tensor.error().message);
  return *std::move(tensor);
}

std::vector<float> values(const Tensor& tensor) {
  return {tensor.values<float>().begin(), tensor.values<float>().end()};
}

/// A sound without a library's sine: a triangle of 40 samples.
std::vector<float> triangle(std::size_t count) {
  std::vector<float> sound(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto phase = static_cast<float>(i % 40);
    sound[i] = (phase < 20.0f ? phase - 10.0f : 30.0f - phase) / 16.0f;
  }
  return sound;
}

}  // namespace

TEST_CASE("Wav_EveryEncoding_IsReadExactly") {
  CHECK(samples(wav(1, 1, 8, std::string("\x80\xff\x00\x40", 4))) ==
        std::vector<float>{0.0f, 127.0f / 128.0f, -1.0f, -0.5f});
  CHECK(samples(wav(1, 1, 16, std::string("\x00\x00\xff\x7f\x00\x80", 6))) ==
        std::vector<float>{0.0f, 32767.0f / 32768.0f, -1.0f});
  CHECK(samples(wav(1, 1, 24, std::string("\x00\x00\x40\x00\x00\x80\x01\x00\x00", 9))) ==
        std::vector<float>{0.5f, -1.0f, 1.0f / 8388608.0f});
  CHECK(samples(wav(1, 1, 32, std::string("\x00\x00\x00\x40\x00\x00\x00\x80", 8))) ==
        std::vector<float>{0.5f, -1.0f});
  CHECK(samples(wav(3, 1, 32, float_bytes({0.25f, -3.5f}))) == std::vector<float>{0.25f, -3.5f});
}

TEST_CASE("Wav_Channels_AreAveraged") {
  CHECK(samples(wav(3, 2, 32, float_bytes({1.0f, 0.0f, -1.0f, 0.5f}))) == std::vector<float>{0.5f, -0.25f});
}

TEST_CASE("Wav_OtherChunksExtensibleFormatsAndStreams_AreTaken") {
  const std::string data("\x00\x40", 2);
  CHECK(samples(riff(chunk("LIST", "odd") + format_chunk(1, 1, 16000, 16) + chunk("data", data))) ==
        std::vector<float>{0.5f});
  std::string extensible = format_chunk(0xfffe, 1, 16000, 16).substr(8);
  extensible += little_endian(22, 2) + little_endian(16, 2) + little_endian(4, 4) + little_endian(1, 2) +
                std::string(14, '\0');
  CHECK(samples(riff(chunk("fmt ", extensible) + chunk("data", data))) == std::vector<float>{0.5f});
  CHECK(samples(riff(format_chunk(1, 1, 16000, 16) + "data\xff\xff\xff\xff" + data)) ==
        std::vector<float>{0.5f});
}

TEST_CASE("Wav_BrokenFiles_AreErrorsThatSayWhy") {
  CHECK(failure("RIFF").find("not a WAV file") != std::string::npos);
  CHECK(failure(riff("")) == "the chunk 'fmt ' is missing");
  CHECK(failure(riff(format_chunk(1, 1, 16000, 16))) == "the chunk 'data' is missing");
  CHECK(failure(riff(chunk("data", "ab"))).find("comes before 'fmt '") != std::string::npos);
  CHECK(failure(riff(chunk("fmt ", "short"))).find("has 5 bytes, expected at least 16") != std::string::npos);
  CHECK(failure(wav(1, 1, 16, "abc")).find("no multiple of 2") != std::string::npos);
  CHECK(failure(riff(format_chunk(1, 1, 16000, 16) + "data" + little_endian(100, 4) + "ab"))
            .find("has 100 bytes, but 2 are left") != std::string::npos);
  CHECK(failure(wav(2, 1, 4, "ab")).find("encoding 2 with 4 bits") != std::string::npos);
  CHECK(failure(wav(1, 0, 16, "")).find("0 channels") != std::string::npos);
  CHECK(failure(riff(format_chunk(1, 1, 0, 16) + chunk("data", ""))).find("0 Hz") != std::string::npos);
  CHECK(failure(wav(3, 1, 32, float_bytes({0.0f, NAN}))).find("sample 1 is nan") != std::string::npos);
}

TEST_CASE("AudioPreprocess_EveryField_IsRead") {
  const AudioPreprocess how = described(
      R"(, "length": 480000, "pad_side": "left", "keep": "end", "scale": 2, "rank": 4, "labels": ["a", "b"],
      "features": "mel", "n_fft": 400, "frame_length": 320, "hop_length": 160, "window": "hamming",
      "center": true, "magnitude": true, "frames": 3000, "mel_bins": 80, "low_hz": 20, "high_hz": 7600,
      "mel_scale": "slaney", "area_norm": true, "log": "log10", "floor": 1e-5, "range": 8, "offset": 4,
      "factor": 0.25, "axes": "time_features")");
  CHECK(how.input == "x");
  CHECK(how.rate == 16000);
  CHECK(how.length == 480000);
  CHECK(how.pad_side == Side::left);
  CHECK(how.keep == Side::right);
  CHECK(how.scale == 2.0);
  CHECK(how.rank == 4);
  CHECK(how.labels == std::vector<std::string>{"a", "b"});
  CHECK(how.features == SoundFeatures::mel);
  CHECK(how.n_fft == 400);
  CHECK(how.frame_length == 320);
  CHECK(how.hop_length == 160);
  CHECK(how.window == SoundWindow::hamming);
  CHECK(how.center);
  CHECK(how.magnitude);
  CHECK(how.frames == 3000);
  CHECK(how.mel_bins == 80);
  CHECK(how.low_hz == 20.0);
  CHECK(how.high_hz == 7600.0);
  CHECK(how.mel_scale == MelScale::slaney);
  CHECK(how.area_norm);
  CHECK(how.log == SoundLog::decimal);
  CHECK(how.floor == 1e-5);
  CHECK(how.range == 8.0);
  CHECK(how.offset == 4.0);
  CHECK(how.factor == 0.25);
  CHECK(how.axes == SoundAxes::time_features);
}

TEST_CASE("AudioPreprocess_WrongFields_AreNamed") {
  const std::string mel = R"(, "features": "mel", "n_fft": 400, "hop_length": 160)";
  CHECK(refusal(R"({"format": "driftscope-preprocess-1", "kind": "audio", "input": "x"})")
            .find("rate is missing") != std::string::npos);
  for (const auto& [more, part] : std::vector<std::pair<std::string, std::string>>{
           {R"(, "length": 0)", "length is 0"},
           {R"(, "scale": "loud")", "scale is not a finite number"},
           {R"(, "features": "mfcc")", "features"},
           {R"(, "features": "mel")", "n_fft is missing"},
           {mel, "mel_bins is missing"},
           {mel + R"(, "mel_bins": 100000)", "mel_bins is 100000"},
           {mel + R"(, "mel_bins": 80, "high_hz": 9000)", "half the rate"},
           {mel + R"(, "mel_bins": 80, "low_hz": 8000)", "half the rate"},
           {mel + R"(, "mel_bins": 80, "frame_length": 401)", "frame_length is 401, expected 1 to 400"},
           {mel + R"(, "mel_bins": 80, "floor": 0)", "floor is 0"},
           {mel + R"(, "mel_bins": 80, "rank": 1)", "a spectrogram has two axes"}})
    CHECK_MESSAGE(refusal(with(more)).find(part) != std::string::npos, refusal(with(more)));
}

TEST_CASE("AudioPreprocess_KindDecides") {
  const auto how = parse_sample_description(with(""));
  REQUIRE(how.ok());
  CHECK(std::holds_alternative<AudioPreprocess>(*how));
}

TEST_CASE("Sound_Waveform_IsPaddedAndCut") {
  const std::vector<float> sound = {1, 2, 3};
  CHECK(values(made("", sound)) == sound);
  CHECK(made("", sound).shape() == Shape{1, 3});
  CHECK(made(R"(, "rank": 3)", sound).shape() == Shape{1, 1, 3});
  CHECK(values(made(R"(, "length": 5, "scale": 2)", sound)) == std::vector<float>{2, 4, 6, 0, 0});
  CHECK(values(made(R"(, "length": 5, "pad_side": "left")", sound)) == std::vector<float>{0, 0, 1, 2, 3});
  CHECK(values(made(R"(, "length": 2)", sound)) == std::vector<float>{1, 2});
  CHECK(values(made(R"(, "length": 2, "keep": "end")", sound)) == std::vector<float>{2, 3});
}

TEST_CASE("Sound_AnotherRate_IsAnErrorThatNamesBoth") {
  AudioPreprocess how = described("");
  how.rate = 8000;
  const auto tensor = read_sound(how, bytes(wav(3, 1, 32, float_bytes({1.0f}))));
  REQUIRE_FALSE(tensor.ok());
  CHECK(tensor.error().message.starts_with("the sound has 16000 Hz, the model takes 8000 Hz"));
}

TEST_CASE("PowerSpectrum_AnyLength_IsTheTransform") {
  for (std::size_t n = 1; n <= 48; ++n) {
    std::vector<double> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>(i * i % 7) - 2.5;
    std::vector<double> power(n / 2 + 1);
    PowerSpectrum spectrum(n);
    spectrum(x, power);
    for (std::size_t k = 0; k < power.size(); ++k) {
      double re = 0.0, im = 0.0;
      for (std::size_t i = 0; i < n; ++i) {
        const double angle =
            2.0 * 3.14159265358979323846 * static_cast<double>(i * k) / static_cast<double>(n);
        re += x[i] * std::cos(angle);
        im += x[i] * std::sin(angle);
      }
      CHECK(power[k] == doctest::Approx(re * re + im * im).epsilon(1e-9).scale(1.0));
    }
  }
}

TEST_CASE("MelFilters_Whisper_AreItsOwn") {
  const AudioPreprocess how = described(
      R"(, "features": "mel", "n_fft": 400, "hop_length": 160, "mel_bins": 80, "mel_scale": "slaney",
      "area_norm": true)");
  const std::vector<double> filters = mel_filters(how);
  // As librosa.filters.mel(sr=16000, n_fft=400, n_mels=80) has them.
  CHECK(filters[0] == 0.0);
  CHECK(filters[1] == doctest::Approx(0.02486259).epsilon(1e-6));
  CHECK(filters[2] == 0.0);
}

TEST_CASE("MelFilters_Htk_HaveTopsOfOneAtEqualSteps") {
  AudioPreprocess how =
      described(R"(, "features": "mel", "n_fft": 16000, "hop_length": 160, "mel_bins": 3, "low_hz": 0)"
                R"(, "high_hz": 8000)");
  const std::vector<double> filters = mel_filters(how);
  // A bin is 1 Hz wide; 700 · (10^(m / 2595) − 1) at a quarter of 2840.02 mel is 614.4 Hz.
  double best = 0.0;
  std::size_t at = 0;
  for (std::size_t k = 0; k <= 8000; ++k)
    if (filters[k] > best) {
      best = filters[k];
      at = k;
    }
  CHECK(at == 614);
  CHECK(best > 0.998);
  CHECK(best <= 1.0);
}

TEST_CASE("Sound_Frames_AreCountedAsTheFieldDoes") {
  const std::string rule = R"(, "features": "spectrogram", "n_fft": 400, "hop_length": 160)";
  CHECK(made(rule, triangle(1600)).shape() == Shape{1, 201, 8});
  CHECK(made(rule + R"(, "center": true)", triangle(1600)).shape() == Shape{1, 201, 11});
  CHECK(made(rule + R"(, "center": true, "frames": 10, "axes": "time_features", "rank": 2)", triangle(1600))
            .shape() == Shape{10, 201});
  const auto too_short = read_sound(described(rule), bytes(wav(3, 1, 32, float_bytes(triangle(399)))));
  REQUIRE_FALSE(too_short.ok());
  CHECK(too_short.error().message.starts_with("399 samples are too few for a frame of 400"));
  const auto few =
      read_sound(described(rule + R"(, "frames": 9)"), bytes(wav(3, 1, 32, float_bytes(triangle(1600)))));
  REQUIRE_FALSE(few.ok());
  CHECK(few.error().message.starts_with("8 frames, expected 9"));
}

TEST_CASE("Sound_Center_ReflectsBothEnds") {
  // 2 | 1 2 4 | 2: sums of neighbours, squared.
  const std::string rule =
      R"(, "features": "spectrogram", "n_fft": 2, "hop_length": 1, "window": "rectangular", "center": true)";
  const auto power = values(made(rule, {1, 2, 4}));
  CHECK(std::vector<float>(power.begin(), power.begin() + 4) == std::vector<float>{9, 9, 36, 36});
}

TEST_CASE("Sound_AConstant_IsAllInItsFirstBin") {
  const std::string rule =
      R"(, "features": "spectrogram", "n_fft": 8, "hop_length": 8, "window": "rectangular", "rank": 2)";
  const std::vector<float> ones(8, 0.5f);
  CHECK(values(made(rule, ones))[0] == 16.0f);
  CHECK(values(made(rule + R"(, "magnitude": true)", ones))[0] == 4.0f);
  CHECK(values(made(rule + R"(, "magnitude": true, "log": "decibel", "floor": 1)", ones))[1] == 0.0f);
  CHECK(values(made(rule + R"(, "offset": 4, "factor": 0.25)", ones))[0] == 5.0f);
}

TEST_CASE("Sound_LogMel_HasTheSameBitsOnEveryHost") {
  // As Whisper's features: these values are part of what the description means.
  const Tensor mel = made(
      R"(, "length": 3200, "features": "mel", "n_fft": 400, "hop_length": 160, "center": true, "frames": 20,
      "mel_bins": 80, "mel_scale": "slaney", "area_norm": true, "log": "log10", "range": 8, "offset": 4,
      "factor": 0.25)",
      triangle(2000));
  CHECK(mel.shape() == Shape{1, 80, 20});
  const auto x = values(mel);
  std::uint64_t hash = 14695981039346656037ull;  // FNV-1a
  for (const float value : x) hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 1099511628211ull;
  // As the definition gives them, computed by other code.
  CHECK(x[10 * 20 + 5] == doctest::Approx(1.43409294).epsilon(1e-6));
  CHECK(x[40 * 20 + 12] == doctest::Approx(0.48821924).epsilon(1e-6));
  CHECK(hash == 4497089936941309711u);
}

}  // namespace driftscope::test::sound_test
