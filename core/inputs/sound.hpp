// A sound in a file of its own → a model's input, as its description says: audio_preprocess.hpp of
// core/dataset. In double with + − × ÷ √ and the portable functions, rounded once to float32, so the same
// bits on every host. Client: the source of single files.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/dataset/audio_preprocess.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

/// Whether a file's name ends in .wav, in any case.
[[nodiscard]] bool is_sound_name(std::string_view name);

/// A WAV file → float32. Errors: another rate, too short for one frame, more than a tensor holds.
[[nodiscard]] Result<Tensor> read_sound(const AudioPreprocess& how, std::span<const std::byte> wav);

}  // namespace driftscope
