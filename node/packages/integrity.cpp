#include "native/packages/integrity.hpp"

#include <array>

#include "node/system/system.hpp"

namespace driftscope {

std::string sha512_integrity(std::span<const std::byte> bytes) {
  std::array<char, 128> text{};
  if (ds_hash("sha512", bytes.data(), bytes.size(), text.data(), text.size()) < 0) return {};
  return "sha512-" + std::string(text.data());
}

}  // namespace driftscope
