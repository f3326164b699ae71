// Sounds in WAV files: PCM of 8, 16, 24 and 32 bits and float32, the mean of all channels. The same bits on
// every host. Client: sound (core/inputs). No compressed formats, and no conversion of rates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

struct Sound {
  std::int64_t rate = 0;       ///< Hz
  std::vector<float> samples;  ///< of one channel; integers are divided by 2ⁿ⁻¹, so within [−1, 1)
};

/// Errors name the chunk, what was expected and what is there: also for files that end early, and for samples
/// that are no number.
[[nodiscard]] Result<Sound> read_wav(std::span<const std::byte> bytes);

}  // namespace driftscope
