// Subresource integrity, as npm states it for its packages. Client: npm.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace driftscope {

/// "sha512-" and the hash in base64.
[[nodiscard]] std::string sha512_integrity(std::span<const std::byte> bytes);

}  // namespace driftscope
