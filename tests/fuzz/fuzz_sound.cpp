// Any bytes as a WAV file, or as a description of sounds, applied to a short one; the first byte says which.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/dataset/wav.hpp"
#include "core/inputs/sound.hpp"

namespace {

using namespace driftscope;

/// What is read are numbers, no more of them than the file has bytes.
void sound(std::span<const std::byte> bytes) {
  const auto read = read_wav(bytes);
  if (!read.ok()) return;
  if (read->rate < 1 || read->samples.size() > bytes.size()) std::abort();
  for (const float x : read->samples)
    if (!std::isfinite(x)) std::abort();
}

/// 64 samples of one channel of 8 bits.
std::string short_sound(std::uint32_t rate) {
  std::string wav = "RIFF....WAVEfmt ";
  for (const std::uint32_t word : {16u, 0x00010001u, rate, rate, 0x00080001u})
    for (unsigned shift = 0; shift < 32; shift += 8) wav += static_cast<char>(word >> shift & 0xff);
  wav += std::string("data\x40\0\0\0", 8);
  for (int i = 0; i < 64; ++i) wav += static_cast<char>(i * 37);
  return wav;
}

/// Every description that is accepted gives a tensor of finite values or an error.
void description(std::string_view text) {
  const auto how = parse_audio_preprocess(text);
  if (!how.ok()) return;
  if (how->length > 4096 || how->n_fft > 512 || how->mel_bins > 128) return;  // only slow
  const std::string wav = short_sound(static_cast<std::uint32_t>(how->rate));
  const auto tensor = read_sound(*how, std::as_bytes(std::span(wav)));
  if (!tensor.ok()) return;
  for (const float x : tensor->values<float>())
    if (!std::isfinite(x)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  if (data[0] % 2 == 0) {
    sound(bytes);
  } else {
    description({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  return 0;
}
