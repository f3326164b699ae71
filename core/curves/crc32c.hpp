// CRC-32C (Castagnoli, RFC 3720 B.4), and as TensorFlow's record files mask it
// (tensorflow/core/lib/hash/crc32c.h). Client: the reader of event files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace driftscope {

[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes);
/// Rotated right by 15 and 0xa282ead8 added, so that a CRC of data that contain CRCs stays useful.
[[nodiscard]] std::uint32_t masked_crc32c(std::span<const std::byte> bytes);

}  // namespace driftscope
