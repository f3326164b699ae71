// Compiled for size on the web (cmake/core.cmake).
#include "core/dataset/wav.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <optional>
#include <string_view>

#include "core/base/text.hpp"

namespace driftscope {
namespace {

constexpr std::uint32_t pcm = 1, ieee_float = 3, extensible = 0xfffe;
constexpr std::uint32_t unknown_length = 0xffffffff;  // as written by programs that stream
constexpr std::uint32_t max_channels = 64;
constexpr std::uint32_t max_wav_rate = 768000;

/// Little-endian; `at` + `count` is within the bytes.
std::uint32_t number(std::span<const std::byte> bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i)
    value |= std::to_integer<std::uint32_t>(bytes[at + i]) << (8 * static_cast<unsigned>(i));
  return value;
}

std::string_view four_letters(std::span<const std::byte> bytes, std::size_t at) {
  return {reinterpret_cast<const char*>(bytes.data() + at), 4};
}

struct Format {
  std::uint32_t encoding = 0;
  std::uint32_t channels = 0;
  std::uint32_t rate = 0;
  std::uint32_t bits = 0;
  [[nodiscard]] std::size_t sample_bytes() const { return bits / 8; }
};

Result<Format> read_format(std::span<const std::byte> chunk) {
  if (chunk.size() < 16)
    return bad_input(fmt::format("the chunk 'fmt ' has {} bytes, expected at least 16", chunk.size()));
  Format format{number(chunk, 0, 2), number(chunk, 2, 2), number(chunk, 4, 4), number(chunk, 14, 2)};
  // The encoding proper is the start of a GUID.
  if (format.encoding == extensible && chunk.size() >= 26) format.encoding = number(chunk, 24, 2);
  const bool integers = format.encoding == pcm &&
                        (format.bits == 8 || format.bits == 16 || format.bits == 24 || format.bits == 32);
  if (!integers && !(format.encoding == ieee_float && format.bits == 32))
    return unsupported(fmt::format(
        "encoding {} with {} bits; expected PCM (1) of 8, 16, 24 or 32 bits, or floating (3) of 32",
        format.encoding, format.bits));
  if (format.channels < 1 || format.channels > max_channels)
    return bad_input(fmt::format("{} channels, expected 1 to {}", format.channels, max_channels));
  if (format.rate < 1 || format.rate > max_wav_rate)
    return bad_input(fmt::format("a rate of {} Hz, expected 1 to {}", format.rate, max_wav_rate));
  return format;
}

/// One sample, exactly; float32 holds it after a rounding in the case of 32 bits.
double sample(const Format& format, std::span<const std::byte> data, std::size_t at) {
  const std::uint32_t bits = number(data, at, format.sample_bytes());
  if (format.encoding == ieee_float) return static_cast<double>(std::bit_cast<float>(bits));
  if (format.bits == 8) return (static_cast<double>(bits) - 128.0) / 128.0;
  const unsigned unused = 32 - format.bits;
  return static_cast<double>(static_cast<std::int32_t>(bits << unused)) / 2147483648.0;
}

Result<std::vector<float>> read_samples(const Format& format, std::span<const std::byte> data) {
  const std::size_t frame = format.sample_bytes() * format.channels;
  if (data.size() % frame != 0)
    return bad_input(
        fmt::format("the chunk 'data' has {} bytes, which are no multiple of {} for {} channels of {} bits",
                    data.size(), frame, format.channels, format.bits));
  std::vector<float> samples;
  samples.reserve(data.size() / frame);
  for (std::size_t at = 0; at < data.size(); at += frame) {
    double sum = 0.0;
    for (std::size_t channel = 0; channel < format.channels; ++channel)
      sum += sample(format, data, at + channel * format.sample_bytes());
    const auto mean = static_cast<float>(sum / static_cast<double>(format.channels));
    if (!std::isfinite(mean))
      return bad_input(fmt::format("sample {} is {}, not a number", samples.size(), mean));
    samples.push_back(mean);
  }
  return samples;
}

}  // namespace

Result<Sound> read_wav(std::span<const std::byte> bytes) {
  if (bytes.size() < 12 || four_letters(bytes, 0) != "RIFF" || four_letters(bytes, 8) != "WAVE")
    return bad_input("not a WAV file: it does not begin with RIFF and WAVE");
  std::optional<Format> format;
  std::size_t at = 12;
  while (bytes.size() - at >= 8) {
    const std::string_view name = four_letters(bytes, at);
    const std::uint32_t length = number(bytes, at + 4, 4);
    at += 8;
    const std::size_t rest = bytes.size() - at;
    const bool to_the_end = name == "data" && length == unknown_length;
    if (!to_the_end && length > rest)
      return bad_input(fmt::format("the chunk {} has {} bytes, but {} are left: the file ends early",
                                   in_quotes(name), length, rest));
    const auto chunk = bytes.subspan(at, to_the_end ? rest : length);
    if (name == "fmt ") {
      DRIFTSCOPE_TRY(format, read_format(chunk));
    } else if (name == "data") {
      if (!format) return bad_input("the chunk 'data' comes before 'fmt ', which says what it holds");
      DRIFTSCOPE_TRY(std::vector<float> samples, read_samples(*format, chunk));
      return Sound{format->rate, std::move(samples)};
    }
    at += chunk.size();
    if (length % 2 != 0 && at < bytes.size()) ++at;  // chunks begin at even places
  }
  return bad_input(fmt::format("the chunk {} is missing", format ? "'data'" : "'fmt '"));
}

}  // namespace driftscope
