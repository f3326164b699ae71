// Which requests the server accepts at all, and the headers of every response.
// Client: server. It knows nothing of jobs or files.
//
// A page of another site can make a browser send requests to 127.0.0.1 (and by DNS rebinding even
// read the answers), so the address alone protects nothing: the Host header must be ours, Origin
// must be absent or ours, and the first path segment must be the token that only the user's URL
// holds.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace driftscope {

/// The parts of a request that decide on admission.
struct RequestFacts {
  std::string_view path;             ///< percent-decoded, without query
  std::vector<std::string> hosts;    ///< every Host header
  std::vector<std::string> origins;  ///< every Origin header
  bool has_content_encoding = false;
  bool is_form = false;              ///< multipart/…, which httplib would take apart itself
  bool body_without_length = false;  ///< POST with neither Content-Length nor chunks
  std::size_t header_bytes = 0;
  bool through_front = false;  ///< from another machine (front_source.hpp)
};

struct Rejection {
  int status = 404;
  std::string reason;
};

/// The server's address and the prefix of its URLs.
struct Address {
  int port = 0;
  std::string token;
  std::string visit = {};  ///< of a OneVisit, which is admitted beside the token; empty: none
  /// Whether a segment is admitted beside the token, by rules of its own; null: none is.
  std::function<bool(std::string_view segment)> others = nullptr;
  /// How browsers elsewhere reach the server: "https://hub.example.org". Empty: they do not.
  std::string public_origin = {};
  /// How other machines reach it through a front of ours, the best for links first; empty: there is none.
  /// Whatever comes that way, and with `others` also by the public origin, gets the paths of those alone.
  std::vector<std::string> front_origins = {};
  [[nodiscard]] std::string url() const;  ///< "http://127.0.0.1:PORT/TOKEN/"
  /// The same of another segment, for browsers elsewhere where they reach the server.
  [[nodiscard]] std::string url_of(std::string_view segment) const;
};

inline constexpr std::size_t max_header_bytes = 32 * 1024;

/// Nothing if the request is admitted.
[[nodiscard]] std::optional<Rejection> reject(const RequestFacts& request, const Address& address);

/// The first segment of a path, which is to be a token; empty for what is not a path.
[[nodiscard]] std::string_view first_segment(std::string_view path);

/// The path below the token, starting with "/"; the token must have been checked. Empty for a path
/// that is the token alone.
[[nodiscard]] std::string_view below_token(std::string_view path);

/// Isolation (COOP, COEP, CORP), Content-Security-Policy and similar headers.
[[nodiscard]] const std::vector<std::pair<std::string, std::string>>& security_headers();

}  // namespace driftscope
