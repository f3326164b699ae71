#include "native/campaign/store_url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace driftscope {
namespace {

constexpr std::string_view after_scheme = "://";

Result<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    unsigned value = 0;
    const char* const digits = text.data() + i + 1;
    const bool there = i + 2 < text.size();
    const auto read = std::from_chars(digits, there ? digits + 2 : digits, value, 16);
    if (!there || read.ec != std::errc() || read.ptr != digits + 2 || value == 0)
      return bad_input("a '%' in it has no two hexadecimal digits after it; write '%' itself as %25");
    decoded += static_cast<char>(value);
    i += 2;
  }
  return decoded;
}

/// Whether what follows a host's ':' can be a port, and not the password of somebody who forgot the '@'.
bool ports_are_numbers(std::string_view hosts) {
  while (!hosts.empty()) {
    std::string_view host = hosts.substr(0, hosts.find(','));
    hosts.remove_prefix(std::min(hosts.size(), host.size() + 1));
    if (const std::size_t bracket = host.rfind(']'); bracket != std::string_view::npos)
      host.remove_prefix(bracket);
    const std::size_t colon = host.find(':');
    if (colon != std::string_view::npos &&
        !std::ranges::all_of(host.substr(colon + 1), [](char c) { return c >= '0' && c <= '9'; }))
      return false;
  }
  return true;
}

/// Takes the passwords out of NAME=VALUE&NAME=VALUE.
Result<std::string> take_parameters(std::string_view query, StoreUrl& url) {
  std::string left;
  while (!query.empty()) {
    const std::string_view parameter = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), parameter.size() + 1));
    const std::size_t equals = parameter.find('=');
    DRIFTSCOPE_TRY(const std::string name, percent_decoded(parameter.substr(0, equals)));
    if (name == "password" || name == "sslpassword") {
      const auto value = equals == std::string_view::npos ? "" : parameter.substr(equals + 1);
      DRIFTSCOPE_TRY((name == "password" ? url.password : url.key_password), percent_decoded(value));
      continue;
    }
    left += fmt::format("{}{}", left.empty() ? "?" : "&", parameter);
  }
  return left;
}

}  // namespace

Result<StoreUrl> read_store_url(std::string_view text) {
  StoreUrl url;
  const std::size_t colon = text.find(after_scheme);
  if (colon == std::string_view::npos) return bad_input("is not a URL");
  const std::size_t begin = colon + after_scheme.size();
  std::string_view rest = text.substr(begin);
  url.shown = text.substr(0, begin);
  const std::size_t at = rest.find('@');
  if (at != rest.rfind('@') || (at != std::string_view::npos && at > rest.find('/')))
    return bad_input(
        "it cannot be told where the user and the password end; in them, and in parameters, write '@' as "
        "%40, "
        "'/' as %2F and ':' as %3A");
  if (at != std::string_view::npos) {
    const std::string_view user = rest.substr(0, std::min(at, rest.find(':')));
    if (user.size() < at) {
      DRIFTSCOPE_TRY(url.password, percent_decoded(rest.substr(user.size() + 1, at - user.size() - 1)));
    }
    url.shown += fmt::format("{}@", user);
    rest.remove_prefix(at + 1);
  }
  if (!ports_are_numbers(rest.substr(0, rest.find_first_of("/?"))))
    return bad_input("what follows the ':' of its host is not the number of a port");
  const std::size_t question = rest.find('?');
  url.shown += rest.substr(0, question);
  if (question == std::string_view::npos) return url;
  DRIFTSCOPE_TRY(const std::string parameters, take_parameters(rest.substr(question + 1), url));
  url.shown += parameters;
  return url;
}

std::string without_passwords(std::string_view text) {
  const std::size_t colon = text.find(after_scheme);
  if (colon == std::string_view::npos) return std::string(text);
  auto url = read_store_url(text);
  if (url.ok()) return std::move(url->shown);
  const std::string_view rest = text.substr(colon + after_scheme.size());
  const std::size_t at = rest.rfind('@');
  const std::string_view host = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return fmt::format("{}{}…@{}", text.substr(0, colon), after_scheme, host.substr(0, host.find('?')));
}

}  // namespace driftscope
