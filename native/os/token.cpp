#include "native/os/token.hpp"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace driftscope {

Result<std::string> random_token() {
  std::array<unsigned char, 24> bytes{};
  const ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
  if (got != static_cast<ssize_t>(bytes.size()))
    return io_error(std::string("no random numbers from the operating system: ") + std::strerror(errno));
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

bool same_token(std::string_view given, std::string_view token) {
  unsigned difference = given.size() == token.size() ? 0 : 1;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const char other = i < given.size() ? given[i] : '\0';
    difference |= static_cast<unsigned char>(other) ^ static_cast<unsigned char>(token[i]);
  }
  return difference == 0;
}

}  // namespace driftscope
