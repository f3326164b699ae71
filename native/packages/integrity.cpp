#include "native/packages/integrity.hpp"

#include <openssl/evp.h>

#include <array>

#include "core/base/base64.hpp"

namespace driftscope {

std::string sha512_integrity(std::span<const std::byte> bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), hash.data(), &size, EVP_sha512(), nullptr) != 1) return {};
  return "sha512-" + base64(std::string(reinterpret_cast<const char*>(hash.data()), size));
}

}  // namespace driftscope
