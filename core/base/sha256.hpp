// SHA-256 (FIPS 180-4) of a byte range: names models and tensors in traces, tests and caches.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/base/byte_source.hpp"

namespace driftscope {

/// 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::span<const std::byte> bytes);

/// The same, reading a megabyte at a time.
[[nodiscard]] std::string sha256_hex(const ByteSource& source);

}  // namespace driftscope
