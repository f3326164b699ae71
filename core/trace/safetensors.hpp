// The safetensors container (https://github.com/huggingface/safetensors, "Format"): 8 bytes
// little-endian header length, a JSON header, the tensors' bytes. Client: trace_file.
// It knows nothing of traces.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/model.hpp"

namespace driftscope {

/// Longest header, as the format's own readers have it.
inline constexpr std::size_t max_safetensors_header = 100'000'000;

struct Safetensors {
  std::map<std::string, std::string> metadata;  ///< `__metadata__`
  std::vector<NamedTensor> tensors;             ///< in the order of their bytes in the file
};

/// Refuses what the format's own reader refuses: duplicate keys, offsets that overlap, leave a hole or
/// pass the end, sizes that do not fit shape and dtype; also bool elements other than 0 and 1.
[[nodiscard]] Result<Safetensors> read_safetensors(std::span<const std::byte> bytes);

/// The data starts at a multiple of 8. Errors: a name twice or not UTF-8, a dtype that the format
/// lacks, a header beyond its limit.
[[nodiscard]] Result<std::vector<std::byte>> write_safetensors(const Safetensors& file);

}  // namespace driftscope
