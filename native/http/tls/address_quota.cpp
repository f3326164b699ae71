#include "native/http/tls/address_quota.hpp"

#include <algorithm>
#include <iterator>

namespace driftscope {

void AddressQuota::refill(Guest& guest, Time now) const {
  const double seconds = std::chrono::duration<double>(now - guest.since).count();
  guest.left = std::min(limits_.burst, guest.left + std::max(0.0, seconds) * limits_.per_second);
  guest.since = now;
}

// Whoever could begin as many as a stranger need not be remembered.
bool AddressQuota::make_room(Time now) {
  if (guests_.size() < limits_.known) return true;
  for (auto each = guests_.begin(); each != guests_.end();) {
    refill(each->second, now);
    const bool as_a_stranger = each->second.open == 0 && each->second.left >= limits_.burst;
    each = as_a_stranger ? guests_.erase(each) : std::next(each);
  }
  return guests_.size() < limits_.known;
}

bool AddressQuota::enter(std::uint32_t address, Time now) {
  auto found = guests_.find(address);
  if (found == guests_.end()) {
    if (!make_room(now)) return false;
    found = guests_.emplace(address, Guest{.open = 0, .left = limits_.burst, .since = now}).first;
  }
  Guest& guest = found->second;
  refill(guest, now);
  if (guest.left < 1) return false;
  guest.left -= 1;
  if (open_ >= limits_.all || guest.open >= limits_.each) return false;
  ++guest.open;
  ++open_;
  return true;
}

void AddressQuota::leave(std::uint32_t address) {
  const auto found = guests_.find(address);
  if (found == guests_.end() || found->second.open == 0) return;
  --found->second.open;
  --open_;
}

}  // namespace driftscope
