// The bytes of a message.
#include <cstdint>
#include <cstring>

#include "core/protocol/service.hpp"

namespace driftscope {

std::vector<std::byte> pack_message(std::string_view json, std::span<const std::byte> payload) {
  const auto length = static_cast<std::uint32_t>(json.size());
  std::vector<std::byte> bytes(4 + json.size() + payload.size());
  for (unsigned i = 0; i < 4; ++i) bytes[i] = static_cast<std::byte>(length >> (8 * i));
  std::memcpy(bytes.data() + 4, json.data(), json.size());
  if (!payload.empty()) std::memcpy(bytes.data() + 4 + json.size(), payload.data(), payload.size());
  return bytes;
}

Message unpack_message(std::span<const std::byte> bytes) {
  if (bytes.size() < 4) return {};
  std::size_t length = 0;
  for (unsigned i = 0; i < 4; ++i) length |= std::to_integer<std::size_t>(bytes[i]) << (8 * i);
  const auto rest = bytes.subspan(4);
  if (length > rest.size()) return {};
  return {{reinterpret_cast<const char*>(rest.data()), length}, rest.subspan(length)};
}

}  // namespace driftscope
