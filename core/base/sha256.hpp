// SHA-256 (FIPS 180-4) of a byte range: names models and tensors in traces, tests and caches.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace driftscope {

/// 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::span<const std::byte> bytes);

}  // namespace driftscope
