// URLs of the web as far as a page's files need them (RFC 3986): parsed, and relative references resolved.
// Clients: page links, native/http/page_fetch. No user names, no other schemes than http and https.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace driftscope {

struct Url {
  std::string scheme;  ///< "http" or "https"
  std::string host;    ///< in lower case; of IPv6 without brackets
  int port = 0;        ///< of the scheme where none is given
  std::string path;    ///< with a leading "/", the query included; no fragment

  /// "https://host:port", the port only where it is not the scheme's.
  [[nodiscard]] std::string origin() const;
  [[nodiscard]] std::string text() const { return origin() + path; }
  /// Whether browsers count it as a secure context: https, or this machine.
  [[nodiscard]] bool secure() const;
  bool operator==(const Url&) const = default;
};

/// Errors say what was expected: another scheme, no host, a wrong port, characters that no URL has, more than
/// 4096 bytes.
[[nodiscard]] Result<Url> parse_url(std::string_view text);

/// What `reference` means on a page at `base`: an absolute URL, "//host/…", "/path", "path", "../path".
[[nodiscard]] Result<Url> resolve_url(const Url& base, std::string_view reference);

}  // namespace driftscope
