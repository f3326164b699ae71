#include "native/http/tls/listen_address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <memory>

#include "core/base/text.hpp"
#include "native/os/file_descriptor.hpp"

namespace driftscope {
namespace {

constexpr const char* every_address = "0.0.0.0";

std::uint32_t number_of(const std::string& address) {
  in_addr read{};
  return inet_pton(AF_INET, address.c_str(), &read) == 1 ? ntohl(read.s_addr) : 0;
}

std::string text_of(const sockaddr_in& address) {
  std::array<char, INET_ADDRSTRLEN> text{};
  const char* const written = inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
  return written == nullptr ? std::string() : std::string(written);
}

bool is_own_loopback(const std::string& address) { return number_of(address) >> 24 == 127; }

// RFC 1918, and what machines without DHCP choose (RFC 3927).
bool is_private(const std::string& address) {
  const std::uint32_t number = number_of(address);
  return number >> 24 == 10 || number >> 20 == 0xAC1 || number >> 16 == 0xC0A8 || number >> 16 == 0xA9FE;
}

Error unexpected(std::string_view text) {
  return bad_input(
      fmt::format("--listen: expected an IPv4 address of this machine, or all, and perhaps a "
                  "port (192.168.1.5, 192.168.1.5:8458, all), got {}",
                  in_quotes(text)));
}

}  // namespace

Result<ListenAddress> parse_listen_address(std::string_view text) {
  ListenAddress read;
  const std::size_t colon = text.find(':');
  read.address = std::string(text.substr(0, colon));
  if (read.address == "all") read.address = every_address;
  in_addr number{};
  if (inet_pton(AF_INET, read.address.c_str(), &number) != 1) return unexpected(text);
  if (colon == std::string_view::npos) return read;
  const std::string_view port = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), read.port);
  if (error != std::errc() || end != port.data() + port.size() || read.port < 0 || read.port > 65535)
    return bad_input(fmt::format("--listen: expected a port of 0 to 65535, got {}", in_quotes(port)));
  return read;
}

std::vector<OwnAddress> own_addresses() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(first, freeifaddrs);
  std::vector<OwnAddress> own;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    const bool up = (each->ifa_flags & IFF_UP) != 0 && (each->ifa_flags & IFF_LOOPBACK) == 0;
    if (!up || each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    const std::string address = text_of(*reinterpret_cast<const sockaddr_in*>(each->ifa_addr));
    const auto known = [&](const OwnAddress& other) { return other.address == address; };
    if (address.empty() || std::ranges::any_of(own, known)) continue;
    own.push_back({.address = address, .point_to_point = (each->ifa_flags & IFF_POINTOPOINT) != 0});
  }
  return own;
}

// Connecting a datagram socket chooses a route and sends nothing. The address is one of documents (RFC 5737).
std::string default_address() {
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in far{};
  far.sin_family = AF_INET;
  far.sin_port = htons(9);
  far.sin_addr.s_addr = htonl(0xC0000201);
  sockaddr_in own{};
  socklen_t size = sizeof(own);
  if (socket.get() < 0 ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&far), sizeof(far)) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0)
    return {};
  return text_of(own);
}

Result<std::vector<std::string>> reachable_addresses(const std::string& listen,
                                                     const std::vector<OwnAddress>& own,
                                                     const std::string& by_default) {
  const auto rank = [&](const OwnAddress& each) {
    if (each.point_to_point) return 3;
    if (each.address == by_default) return 0;
    return is_private(each.address) ? 1 : 2;
  };
  std::vector<std::string> addresses;
  for (int wanted = 0; wanted <= 3; ++wanted)
    for (const OwnAddress& each : own)
      if (rank(each) == wanted) addresses.push_back(each.address);
  if (listen != every_address) {
    if (is_own_loopback(listen) || std::ranges::find(addresses, listen) != addresses.end())
      return std::vector<std::string>{listen};
    return bad_input(
        fmt::format("--listen: {} is not an address of this machine; it has {}", listen,
                    addresses.empty() ? "127.0.0.1 alone" : fmt::format("{}", fmt::join(addresses, ", "))));
  }
  if (addresses.empty())
    return missing_error(
        "--listen all: this machine has no IPv4 address that others reach: is it connected?");
  return addresses;
}

}  // namespace driftscope
