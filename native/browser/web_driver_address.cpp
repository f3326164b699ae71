#include "native/browser/web_driver_address.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace driftscope {
namespace {

constexpr std::string_view expected_address =
    "expected http(s)://[USER:KEY@]HOST[:PORT][/PREFIX], as http://127.0.0.1:4444 or "
    "https://USER:KEY@hub.example.org/wd/hub";

Error wrong_address(std::string_view why) {
  return bad_input(fmt::format("the address of the WebDriver: {}; {}", why, expected_address));
}

Result<std::string> percent_decoded(std::string_view text) {
  constexpr int hexadecimal = 16;
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    unsigned value = 0;
    const char* const digits = text.data() + i + 1;
    if (i + 2 >= text.size()) return wrong_address("a '%' in its user or key has no two digits behind it");
    const auto read = std::from_chars(digits, digits + 2, value, hexadecimal);
    if (read.ec != std::errc() || read.ptr != digits + 2)
      return wrong_address("a '%' in its user or key has no two hexadecimal digits behind it");
    decoded += static_cast<char>(value);
    i += 2;
  }
  return decoded;
}

Status read_user(std::string_view given, WebDriverAddress& address) {
  if (given.find_first_of("/?#") != std::string_view::npos)
    return wrong_address("'/', '?' and '#' in its user and key have to be %2F, %3F and %23");
  const std::size_t colon = std::min(given.find(':'), given.size());
  DRIFTSCOPE_TRY(address.user, percent_decoded(given.substr(0, colon)));
  if (colon < given.size()) {
    DRIFTSCOPE_TRY(address.key, percent_decoded(given.substr(colon + 1)));
  }
  if (address.user.empty()) return wrong_address("there is no user before its '@'");
  return {};
}

}  // namespace

std::string WebDriverAddress::text() const {
  std::string text = url.origin();
  if (!user.empty()) text.insert(text.find("://") + 3, "***@");
  return text + url.path;
}

Result<WebDriverAddress> parse_web_driver_address(std::string_view text) {
  WebDriverAddress address;
  const std::size_t scheme = text.find("://");
  const std::size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  // The last one, so that whatever may be a key is behind none in a message.
  const std::size_t at = text.rfind('@');
  std::string plain(text);
  if (at != std::string_view::npos && at >= begin) {
    DRIFTSCOPE_CHECK(read_user(text.substr(begin, at - begin), address));
    plain = std::string(text.substr(0, begin)) + std::string(text.substr(at + 1));
  }
  if (plain.find_first_of("?#") != std::string::npos)
    return wrong_address("it has a '?' or '#', and requests are made of its path");
  auto url = parse_url(plain);
  if (!url.ok()) return wrong_address(url.error().message);
  address.url = *std::move(url);
  while (address.url.path.ends_with('/')) address.url.path.pop_back();
  return address;
}

WebDriverAddress local_web_driver(int port) {
  return {.url = {.scheme = "http", .host = "127.0.0.1", .port = port, .path = ""}, .user = {}, .key = {}};
}

}  // namespace driftscope
