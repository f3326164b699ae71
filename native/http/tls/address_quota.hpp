// How many connections other machines may have: at a time, and newly in a second. Client: front. It knows no
// sockets.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>

namespace driftscope {

/// A browser has six connections to a server, each for one request. All together are fewer than the server's
/// threads (ConnectionLimits), so that the commands of the owner are always answered.
struct QuotaLimits {
  std::size_t all = 48;
  std::size_t each = 16;     ///< of one address
  double burst = 400;        ///< of one address, at once
  double per_second = 200;   ///< and from then on
  std::size_t known = 4096;  ///< addresses that are remembered
};

class AddressQuota {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit AddressQuota(QuotaLimits limits) : limits_(limits) {}

  /// Whether a connection from this address may stay; then leave() must follow.
  [[nodiscard]] bool enter(std::uint32_t address, Time now);
  void leave(std::uint32_t address);

 private:
  struct Guest {
    std::size_t open = 0;
    double left = 0;  // connections that it may still begin
    Time since = {};
  };
  void refill(Guest& guest, Time now) const;
  [[nodiscard]] bool make_room(Time now);

  const QuotaLimits limits_;
  std::size_t open_ = 0;
  std::map<std::uint32_t, Guest> guests_;
};

}  // namespace driftscope
