#include "native/http/guard.hpp"

#include <algorithm>

#include "native/os/token.hpp"

namespace driftscope {
namespace {

bool is_loopback(const std::string& authority, int port) {
  constexpr int implied = 80;  // browsers leave it out
  if (port == implied && (authority == "127.0.0.1" || authority == "localhost")) return true;
  const std::string suffix = ":" + std::to_string(port);
  return authority == "127.0.0.1" + suffix || authority == "localhost" + suffix;
}

/// As Host headers have it.
std::string_view authority_of(std::string_view origin) {
  const auto scheme = origin.find("://");
  return scheme == std::string_view::npos ? std::string_view{} : origin.substr(scheme + 3);
}

bool is_of_front(std::string_view authority, const Address& address) {
  return std::ranges::any_of(address.front_origins,
                             [&](const std::string& origin) { return authority == authority_of(origin); });
}

bool is_ours(const std::string& authority, const Address& address) {
  if (is_loopback(authority, address.port)) return true;
  return !address.public_origin.empty() && authority == authority_of(address.public_origin);
}

bool is_own_origin(const std::string& origin, const Address& address) {
  constexpr std::string_view scheme = "http://";
  if (!address.public_origin.empty() && origin == address.public_origin) return true;
  return origin.starts_with(scheme) && is_loopback(origin.substr(scheme.size()), address.port);
}

}  // namespace

std::string Address::url() const { return "http://127.0.0.1:" + std::to_string(port) + "/" + token + "/"; }

std::string Address::url_of(std::string_view segment) const {
  std::string origin = "http://127.0.0.1:" + std::to_string(port);
  if (!public_origin.empty()) origin = public_origin;
  if (!front_origins.empty()) origin = front_origins.front();
  return origin + "/" + std::string(segment) + "/";
}

namespace {

/// The Host and the Origin: nothing, or why not.
std::optional<Rejection> reject_place(const RequestFacts& request, const Address& address) {
  const bool front = request.through_front;
  if (request.hosts.size() != 1 ||
      !(front ? is_of_front(request.hosts.front(), address) : is_ours(request.hosts.front(), address)))
    return Rejection{403, "the Host header is not this server's"};
  const auto own = [&](const std::string& origin) {
    return front ? origin == "https://" + request.hosts.front() : is_own_origin(origin, address);
  };
  if (request.origins.size() > 1 || !std::ranges::all_of(request.origins, own))
    return Rejection{403, "requests from other origins are not answered"};
  return std::nullopt;
}

/// Whether only devices may ask: the owner's programs are on this machine, and use its own address.
bool is_for_devices(const RequestFacts& request, const Address& address) {
  return request.through_front || (address.others && !is_loopback(request.hosts.front(), address.port));
}

}  // namespace

std::optional<Rejection> reject(const RequestFacts& request, const Address& address) {
  if (request.header_bytes > max_header_bytes) return Rejection{431, "too many headers"};
  if (auto rejection = reject_place(request, address)) return rejection;
  // The same response as for an unknown path, so that the existence of a token is not revealed.
  const std::string_view segment = first_segment(request.path);
  const bool visit = !address.visit.empty() && same_token(segment, address.visit);
  const bool owner = (visit || same_token(segment, address.token)) && !is_for_devices(request, address);
  const bool other = address.others && address.others(segment);
  if (!owner && !other) return Rejection{404, "not found"};
  if (request.has_content_encoding) return Rejection{415, "send the body without Content-Encoding"};
  if (request.is_form) return Rejection{415, "send the bytes themselves, not a form"};
  // Only closing the connection could mark its end: a thread would have to wait for that.
  if (request.body_without_length) return Rejection{411, "send the body with its length"};
  return std::nullopt;
}

std::string_view first_segment(std::string_view path) {
  if (path.empty() || path.front() != '/') return {};
  path.remove_prefix(1);
  return path.substr(0, path.find('/'));
}

std::string_view below_token(std::string_view path) {
  const std::size_t slash = path.find('/', 1);
  return slash == std::string_view::npos ? std::string_view{} : path.substr(slash);
}

const std::vector<std::pair<std::string, std::string>>& security_headers() {
  static const std::vector<std::pair<std::string, std::string>> headers = {
      // The first three make the page cross-origin isolated: without it there is no shared memory.
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Embedder-Policy", "require-corp"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; "
       "style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; manifest-src 'self'; "
       "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cache-Control", "no-store"},
  };
  return headers;
}

}  // namespace driftscope
