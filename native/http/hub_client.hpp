// The hub that this user has started (serve --hub), for other commands. Clients: the host remote, the command
// devices.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "generated/documents/hub.hpp"
#include "generated/protocol/messages.hpp"

namespace driftscope {

/// Where the hub says that it is; empty: this environment has no folder for it.
[[nodiscard]] std::filesystem::path hub_file();
/// The keys of its devices, beside it (hub_keys.hpp).
[[nodiscard]] std::filesystem::path hub_keys_file();

class HubClient {
 public:
  /// Error (missing): no hub runs.
  [[nodiscard]] static Result<HubClient> find();
  explicit HubClient(documents::Hub hub) : hub_(std::move(hub)) {}

  /// Every call asks the hub. Errors: it is gone (missing), or what it says.
  [[nodiscard]] Result<std::vector<messages::HubDevice>> devices() const;
  /// Errors: as of devices(), and where there is no such device.
  [[nodiscard]] Result<messages::HubDevice> device(std::string_view name) const;
  [[nodiscard]] Result<messages::HubInvitation> invite() const;
  [[nodiscard]] Status remove(std::string_view name) const;
  /// limit: the device has another job.
  [[nodiscard]] Status give(std::string_view name, const messages::HubWork& work) const;

 private:
  [[nodiscard]] Result<std::string> ask(const std::string& path, const std::string* body) const;

  documents::Hub hub_;
};

}  // namespace driftscope
