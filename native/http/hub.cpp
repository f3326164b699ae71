#include "native/http/hub.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <span>

#include "core/base/sha256.hpp"
#include "native/http/cookies.hpp"
#include "native/http/hub_keys.hpp"
#include "native/os/token.hpp"

namespace driftscope {
namespace {

constexpr std::string_view device_cookie = "driftscope-device";
constexpr std::size_t longest_device_name = 32;
constexpr std::size_t max_links = 64;
constexpr std::chrono::hours device_cookie_life{24 * 365};

std::string hash_of(std::string_view secret) {
  return sha256_hex(std::as_bytes(std::span(secret.data(), secret.size())));
}

// Both become part of an address.
bool is_token(std::string_view text) {
  return !text.empty() && text.size() <= 64 &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Error no_name() { return bad_input("a device's name has letters or digits of a to z and 0 to 9, as pixel8"); }

}  // namespace

HubClock system_hub_clock() {
  return {[] { return static_cast<std::int64_t>(std::time(nullptr)); },
          [] { return std::chrono::steady_clock::now(); }};
}

std::string device_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool plain = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain)
      name += upper ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
    if (name.size() == longest_device_name) break;
  }
  while (name.ends_with('-')) name.pop_back();
  return name;
}

Result<std::unique_ptr<Hub>> Hub::open(HubOptions options) {
  std::unique_ptr<Hub> hub(new Hub(std::move(options)));
  DRIFTSCOPE_CHECK(hub->read_keys());
  return hub;
}

Status Hub::read_keys() {
  if (options_.keys.empty()) return {};
  DRIFTSCOPE_TRY(const documents::HubKeys read, read_hub_keys(options_.keys));
  for (const documents::HubKey& key : read.keys) {
    if (devices_.size() == options_.max_devices) break;
    Device device;
    device.name = device_name(key.name);
    device.secret_hash = key.secret_sha256;
    device.joined = key.joined;
    devices_.emplace(key.segment, std::move(device));
  }
  return {};
}

// A device that works is worth more than one that could be remembered: an error is told.
void Hub::keep_keys() const {
  if (options_.keys.empty()) return;
  documents::HubKeys keys;
  for (const auto& [segment, device] : devices_)
    keys.keys.push_back({segment, device.secret_hash, device.name, device.joined});
  if (const Status written = write_hub_keys(options_.keys, keys); !written.ok()) say(written.error().message);
}

Result<std::string> Hub::invite() {
  DRIFTSCOPE_TRY(std::string segment, random_token());
  const std::lock_guard lock(mutex_);
  const auto now = options_.clock.steady();
  std::erase_if(links_, [&](const auto& link) { return link.second.until <= now; });
  if (links_.size() >= max_links)
    return limit_error(fmt::format("{} links are open already; each is good for {} minutes", max_links,
                                   options_.link_life.count() / 60));
  if (devices_.size() >= options_.max_devices)
    return limit_error(fmt::format("the hub has {} devices; remove some", devices_.size()));
  links_.emplace(segment, Link{now + options_.link_life});
  return segment;
}

bool Hub::knows(std::string_view segment) const {
  const std::lock_guard lock(mutex_);
  return find(segment) != nullptr || links_.contains(segment);
}

Hub::Answer Hub::admit(std::string_view segment, const std::vector<std::string>& cookies) const {
  const std::lock_guard lock(mutex_);
  if (const Device* const device = find(segment)) {
    const std::string secret = cookie(cookies, device_cookie);
    const bool known = !secret.empty() && same_token(hash_of(secret), device->secret_hash);
    return known ? Answer::known : Answer::refused;
  }
  const auto link = links_.find(segment);
  if (link == links_.end()) return Answer::stranger;
  return is_open(link->second) ? Answer::invited : Answer::refused;
}

bool Hub::is_link(std::string_view segment) const {
  const std::lock_guard lock(mutex_);
  const auto link = links_.find(segment);
  return link != links_.end() && is_open(link->second);
}

Result<Hub::Joined> Hub::join(std::string_view segment, const messages::HubJoin& said) {
  const std::string wanted = device_name(said.name);
  if (wanted.empty()) return no_name();
  DRIFTSCOPE_TRY(const std::string secret, random_token());
  const std::lock_guard lock(mutex_);
  const auto link = links_.find(segment);
  if (link == links_.end() || !is_open(link->second))
    return missing_error("this link was used by another browser, or is too old");
  if (devices_.size() >= options_.max_devices)
    return limit_error(fmt::format("the hub has {} devices; remove some", devices_.size()));
  Device device;
  device.name = free_name(wanted);
  device.secret_hash = hash_of(secret);
  device.joined = options_.clock.seconds();
  device.heard = options_.clock.steady();
  device.was_heard = true;
  const std::string name = device.name;
  links_.erase(link);
  devices_.emplace(std::string(segment), std::move(device));
  say(name + " has joined");
  keep_keys();
  return Joined{
      .welcome = {.name = name, .job = {}},
      .set_cookie = fmt::format("{}={}; Path=/{}/; Max-Age={}; HttpOnly; SameSite=Strict", device_cookie,
                                secret, segment, std::chrono::seconds(device_cookie_life).count())};
}

Result<messages::Welcome> Hub::here(std::string_view segment, const messages::Here& said) {
  const std::lock_guard lock(mutex_);
  Device* const device = find(segment);
  if (device == nullptr) return bad_input("this device has left the hub");
  device->heard = options_.clock.steady();
  device->was_heard = true;
  if (said.leaving) {
    say(device->name + " has left");
    forget(segment);
    return messages::Welcome{};
  }
  if (said.name || device->name.empty()) {
    const std::string wanted = device_name(said.name.value_or("device"));
    if (wanted.empty()) return no_name();
    if (wanted != device->name) {
      const bool is_new = device->name.empty();
      const std::string before = std::exchange(device->name, "");
      device->name = free_name(wanted);
      say(is_new ? device->name + " has joined" : before + " is now called " + device->name);
      keep_keys();
    }
  }
  device->said = said;
  if (said.lost) device->lost = said.lost;
  if (said.conditions && said.job) {
    device->conditions = said.conditions;
    device->conditions_of = *said.job;
  }
  messages::Welcome welcome{.name = device->name, .job = {}};
  // A page that was lost during a job is not asked for it again: whoever waits for it may do that.
  if (device->work && !said.job && (!device->lost || device->lost->job != device->work->job))
    welcome.job = device->work->job;
  return welcome;
}

std::optional<messages::HubWork> Hub::work_of(std::string_view segment, std::string_view job) {
  const std::lock_guard lock(mutex_);
  Device* const device = find(segment);
  if (device == nullptr || !device->work || device->work->job != job) return std::nullopt;
  device->heard = options_.clock.steady();
  device->was_heard = true;
  return device->work;
}

void Hub::drop(const messages::HubWork& work) {
  const std::lock_guard lock(mutex_);
  for (auto& [segment, device] : devices_)
    if (device.work && device.work->job == work.job) device.work.reset();
}

std::optional<messages::HubWork> Hub::given_to(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [segment, device] : devices_)
    if (device.name == name) return device.work;
  return std::nullopt;
}

std::string Hub::name_of(std::string_view segment) const {
  const std::lock_guard lock(mutex_);
  const Device* const device = find(segment);
  return device == nullptr ? std::string() : device->name;
}

std::vector<messages::HubDevice> Hub::devices() const {
  const std::lock_guard lock(mutex_);
  const auto now = options_.clock.steady();
  std::vector<messages::HubDevice> list;
  for (const auto& [segment, device] : devices_) {
    if (device.name.empty()) continue;
    messages::HubDevice& one = list.emplace_back();
    one.name = device.name;
    // Nothing yet, of one that has only just joined, or was not heard since the hub started.
    one.about = device.said.about.is_object() ? device.said.about : nlohmann::json::object();
    one.joined = device.joined;
    // One that was not heard since the hub started may be anywhere.
    one.silent_ms = device.was_heard
                        ? std::chrono::duration_cast<std::chrono::milliseconds>(now - device.heard).count()
                        : std::numeric_limits<std::int64_t>::max();
    one.visible = device.said.visible;
    if (device.work) one.job = device.work->job;
    one.lost = device.lost;
    one.conditions = device.conditions;
    if (device.conditions) one.conditions_of = device.conditions_of;
  }
  std::ranges::sort(list, {}, &messages::HubDevice::name);
  return list;
}

Status Hub::give(std::string_view name, const messages::HubWork& work) {
  if (!is_token(work.job) || !is_token(work.token)) return bad_input("this is no job of a program");
  const std::lock_guard lock(mutex_);
  Device* const device = named(name);
  if (device == nullptr) return bad_input(fmt::format("no device of this hub is called {}", name));
  if (work.done) {
    if (device->work && device->work->job == work.job) device->work.reset();
    return {};
  }
  if (device->work && device->work->job != work.job) return limit_error(fmt::format("{} is busy", name));
  device->work = work;
  return {};
}

Status Hub::remove(std::string_view name) {
  const std::lock_guard lock(mutex_);
  for (const auto& [segment, device] : devices_) {
    if (device.name != name) continue;
    forget(segment);
    return {};
  }
  return bad_input(fmt::format("no device of this hub is called {}", name));
}

Hub::Device* Hub::find(std::string_view segment) {
  const auto found = devices_.find(segment);
  return found == devices_.end() ? nullptr : &found->second;
}

const Hub::Device* Hub::find(std::string_view segment) const {
  const auto found = devices_.find(segment);
  return found == devices_.end() ? nullptr : &found->second;
}

Hub::Device* Hub::named(std::string_view name) {
  const auto found = std::ranges::find_if(devices_, [&](const auto& one) { return one.second.name == name; });
  return found == devices_.end() ? nullptr : &found->second;
}

std::string Hub::free_name(const std::string& wanted) const {
  const auto taken = [&](const std::string& name) {
    return std::ranges::any_of(devices_, [&](const auto& one) { return one.second.name == name; });
  };
  std::string name = wanted;
  for (int count = 2; taken(name); ++count) {
    const std::string suffix = fmt::format("-{}", count);
    name = wanted.substr(0, longest_device_name - suffix.size()) + suffix;
  }
  return name;
}

void Hub::forget(std::string_view segment) {
  devices_.erase(devices_.find(segment));
  keep_keys();
}

void Hub::say(const std::string& line) const {
  if (options_.say) options_.say(line);
}

}  // namespace driftscope
