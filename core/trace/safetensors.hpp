// The safetensors container (https://github.com/huggingface/safetensors, "Format"): 8 bytes
// little-endian header length, a JSON header, the tensors' bytes. Clients: trace_file, trace_view.
// It knows nothing of traces.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/model.hpp"
#include "core/trace/safetensors_header.hpp"

namespace driftscope {

/// Longest header, as the format's own readers have it.
inline constexpr std::size_t max_safetensors_header = 100'000'000;

struct Safetensors {
  std::map<std::string, std::string> metadata;  ///< `__metadata__`
  std::vector<NamedTensor> tensors;             ///< in the order of their bytes in the file
};

/// Rejects what the format's own reader rejects: duplicate keys, offsets that overlap, leave a hole or
/// pass the end, sizes that do not fit shape and dtype; also bool elements other than 0 and 1.
[[nodiscard]] Result<Safetensors> read_safetensors(std::span<const std::byte> bytes);

/// The header alone, checked as read_safetensors does; entries in the order of their bytes.
struct SafetensorsLayout {
  SafetensorsHeader header;
  std::span<const std::byte> data;  ///< of `bytes`
};
[[nodiscard]] Result<SafetensorsLayout> read_safetensors_layout(std::span<const std::byte> bytes);
[[nodiscard]] Result<Tensor> read_safetensors_tensor(const SafetensorsEntry& entry,
                                                     std::span<const std::byte> data);

/// Length field and header of a file with these tensors, padded with blanks to `at_least` bytes in
/// all (a multiple of 8); the tensors' bytes follow. For writers that do not hold the tensors.
[[nodiscard]] Result<std::vector<std::byte>> safetensors_head(const SafetensorsHeader& header,
                                                              std::size_t at_least = 0);

/// Takes the next bytes of a file.
using ByteSink = std::function<Status(std::span<const std::byte>)>;

/// The data starts at a multiple of 8. Errors: a name twice or not UTF-8, a dtype that the format
/// lacks, a header beyond its limit.
[[nodiscard]] Result<std::vector<std::byte>> write_safetensors(const Safetensors& file);
/// The same piece by piece; also errors of `sink`.
[[nodiscard]] Status write_safetensors(const Safetensors& file, const ByteSink& sink);

}  // namespace driftscope
