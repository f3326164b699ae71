#include "core/deploy/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "core/base/text.hpp"

namespace driftscope {
namespace {

constexpr std::size_t longest_url = 4096;
constexpr int http_port = 80;
constexpr int https_port = 443;
constexpr int largest_port = 65535;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return result;
}

int usual_port(std::string_view scheme) { return scheme == "https" ? https_port : http_port; }

Error wrong_url(std::string_view text, std::string_view why) {
  return bad_input(fmt::format("{} is not a URL that can be fetched: {}; expected http://… or https://…",
                               in_quotes(text, 200), why));
}

/// Without "." and ".." segments (RFC 3986, 5.2.4), the query left alone.
std::string normal_path(std::string_view path) {
  const std::size_t query = std::min(path.find('?'), path.size());
  std::vector<std::string_view> segments;
  bool folder = false;
  for (std::size_t at = 1; at <= query;) {
    const std::size_t end = std::min(path.find('/', at), query);
    const std::string_view segment = path.substr(at, end - at);
    folder = segment == "." || segment == "..";
    if (segment == ".." && !segments.empty()) segments.pop_back();
    if (!folder) segments.push_back(segment);
    at = end + 1;
  }
  std::string result = fmt::format("/{}", fmt::join(segments, "/"));
  if (folder && result.back() != '/') result += '/';
  return result + std::string(path.substr(query));
}

Status read_authority(std::string_view authority, std::string_view text, Url& url) {
  if (authority.find('@') != std::string_view::npos)
    return wrong_url(text, "it has a user name, which is not sent");
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return wrong_url(text, "the bracket of its address does not close");
    url.host = lower(authority.substr(1, end - 1));
    port = authority.substr(end + 1);
  } else {
    const std::size_t colon = std::min(authority.find(':'), authority.size());
    url.host = lower(authority.substr(0, colon));
    port = authority.substr(colon);
  }
  if (url.host.empty()) return wrong_url(text, "it has no host");
  url.port = usual_port(url.scheme);
  if (port.size() <= 1) return port.empty() || port == ":" ? Status() : wrong_url(text, "its port is wrong");
  const char* const end = port.data() + port.size();
  const auto read = std::from_chars(port.data() + 1, end, url.port);
  if (port[0] != ':' || read.ec != std::errc() || read.ptr != end || url.port < 1 || url.port > largest_port)
    return wrong_url(text, fmt::format("its port must be 1 to {}", largest_port));
  return {};
}

}  // namespace

std::string Url::origin() const {
  const bool v6 = host.find(':') != std::string::npos;
  std::string text = fmt::format("{}://{}{}{}", scheme, v6 ? "[" : "", host, v6 ? "]" : "");
  if (port != usual_port(scheme)) text += fmt::format(":{}", port);
  return text;
}

bool Url::secure() const {
  // W3C, Secure Contexts, 3.1: loopback addresses and names below localhost are potentially trustworthy.
  return scheme == "https" || host == "localhost" || host.ends_with(".localhost") ||
         host.starts_with("127.") || host == "::1";
}

Result<Url> parse_url(std::string_view text) {
  if (text.size() > longest_url)
    return wrong_url(text, fmt::format("it has more than {} bytes", longest_url));
  for (const unsigned char c : text)
    if (c <= ' ' || c == 0x7f || c == '"' || c == '<' || c == '>' || c == '\\')
      return wrong_url(text, "it holds a character that must be percent-encoded");
  Url url;
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) return wrong_url(text, "it has no scheme");
  url.scheme = lower(text.substr(0, colon));
  if (url.scheme != "http" && url.scheme != "https")
    return wrong_url(text, fmt::format("its scheme is {}", in_quotes(url.scheme)));
  std::string_view rest = text.substr(colon + 3);
  rest = rest.substr(0, rest.find('#'));
  const std::size_t path = std::min(rest.find_first_of("/?"), rest.size());
  DRIFTSCOPE_CHECK(read_authority(rest.substr(0, path), text, url));
  url.path = std::string(rest.substr(path));
  if (!url.path.starts_with('/')) url.path.insert(0, "/");
  url.path = normal_path(url.path);
  return url;
}

Result<Url> resolve_url(const Url& base, std::string_view reference) {
  const std::size_t colon = reference.find(':');
  const std::size_t other = reference.find_first_of("/?#");
  if (colon != std::string_view::npos && colon < other) return parse_url(reference);
  if (reference.starts_with("//")) return parse_url(fmt::format("{}:{}", base.scheme, reference));
  if (reference.starts_with('/')) return parse_url(base.origin() + std::string(reference));
  const std::string_view path = std::string_view(base.path).substr(0, base.path.find('?'));
  if (reference.empty() || reference.starts_with('#')) return base;
  if (reference.starts_with('?')) return parse_url(fmt::format("{}{}{}", base.origin(), path, reference));
  const std::string_view folder = path.substr(0, path.rfind('/') + 1);
  return parse_url(fmt::format("{}{}{}", base.origin(), folder, reference));
}

}  // namespace driftscope
