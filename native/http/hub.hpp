// The devices of a hub: browsers anywhere that joined by a link, each with a key of its own, and the job that
// each is to run. It knows no HTTP: hub_api.hpp has the routes. Clients: server, serve, tests.
//
// A link is good for one browser, the first whose visitor presses Join within ten minutes: opening it changes
// nothing, since programs that show previews of links, and scanners, open them too. That browser gets a
// cookie, and from then on the link's segment and the cookie together are the device's key. Keys are kept in
// a file (of the cookie only a hash), so that a device stays paired when the hub starts again.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "generated/protocol/messages.hpp"

namespace driftscope {

/// Seconds since 1970 and a clock that only runs forward; tests have their own.
struct HubClock {
  std::function<std::int64_t()> seconds;
  std::function<std::chrono::steady_clock::time_point()> steady;
};
[[nodiscard]] HubClock system_hub_clock();

struct HubOptions {
  std::filesystem::path keys;  ///< file of the devices; empty: they are forgotten
  std::chrono::seconds link_life{600};
  std::size_t max_devices = 1000;
  /// Told when a device has joined or left: a line for the owner.
  std::function<void(const std::string&)> say = {};
  HubClock clock = system_hub_clock();
};

class Hub {
 public:
  /// Reads the keys. Errors: the file cannot be read, is not such a file, or others may read it.
  [[nodiscard]] static Result<std::unique_ptr<Hub>> open(HubOptions options);

  /// A new link: the first segment of its path.
  [[nodiscard]] Result<std::string> invite();
  [[nodiscard]] std::chrono::seconds link_life() const { return options_.link_life; }

  /// Whether it is a device's, or that of a link.
  [[nodiscard]] bool knows(std::string_view segment) const;

  enum class Answer {
    stranger,  ///< the segment is none of ours
    refused,   ///< it was used by another browser, or is too old
    invited,   ///< of an open link: the page, and joining
    known
  };
  /// Of a request for paths below `segment`; changes nothing.
  [[nodiscard]] Answer admit(std::string_view segment, const std::vector<std::string>& cookies) const;
  [[nodiscard]] bool is_link(std::string_view segment) const;

  struct Joined {
    messages::Welcome welcome;
    std::string set_cookie;  ///< header of the answer
  };
  /// The browser at an open link becomes a device. Errors: the name cannot be one, or the link is none any
  /// more (`missing`): another browser was first, or it is too old.
  [[nodiscard]] Result<Joined> join(std::string_view segment, const messages::HubJoin& said);

  // The device's side; `segment` must have been admitted.
  /// A sign of life. Errors: the name cannot be one.
  [[nodiscard]] Result<messages::Welcome> here(std::string_view segment, const messages::Here& said);
  /// The server of a job; nothing if it is not this device's. Asking is a sign of life too.
  [[nodiscard]] std::optional<messages::HubWork> work_of(std::string_view segment, std::string_view job);
  /// The program that has this job is gone: nobody takes it back.
  void drop(const messages::HubWork& work);
  /// Empty: it has not said one.
  [[nodiscard]] std::string name_of(std::string_view segment) const;

  // The owner's side.
  [[nodiscard]] std::vector<messages::HubDevice> devices() const;
  /// Errors: there is no such device; it has another job (`limit`).
  [[nodiscard]] Status give(std::string_view name, const messages::HubWork& work);
  /// What it has been given; nothing where there is no such device, too.
  [[nodiscard]] std::optional<messages::HubWork> given_to(std::string_view name) const;
  /// Its key is worth nothing any more. Error: there is no such device.
  [[nodiscard]] Status remove(std::string_view name);

 private:
  struct Link {
    std::chrono::steady_clock::time_point until;
  };
  struct Device {
    std::string name;         // empty until it has said one
    std::string secret_hash;  // SHA-256 of the cookie, in hexadecimal
    std::int64_t joined = 0;
    std::chrono::steady_clock::time_point heard = {};
    bool was_heard = false;  // since the hub started
    messages::Here said = {};
    std::optional<messages::HubWork> work = {};
    std::optional<messages::LostJob> lost = {};
    // Of the last job that had some: who waits for it asks when it is over.
    std::string conditions_of = {};
    std::optional<nlohmann::json> conditions = {};
  };

  explicit Hub(HubOptions options) : options_(std::move(options)) {}
  [[nodiscard]] Status read_keys();
  void keep_keys() const;
  [[nodiscard]] Device* find(std::string_view segment);
  [[nodiscard]] const Device* find(std::string_view segment) const;
  [[nodiscard]] Device* named(std::string_view name);
  [[nodiscard]] bool is_open(const Link& link) const { return link.until > options_.clock.steady(); }
  [[nodiscard]] std::string free_name(const std::string& wanted) const;
  void forget(std::string_view segment);
  void say(const std::string& line) const;

  const HubOptions options_;
  mutable std::mutex mutex_;
  std::map<std::string, Link, std::less<>> links_;      // by segment, until they are opened
  std::map<std::string, Device, std::less<>> devices_;  // by segment
};

/// A name as targets have them: lower-case letters, digits and "-", at most 32. Empty: none of `text` can be
/// one.
[[nodiscard]] std::string device_name(std::string_view text);

}  // namespace driftscope
