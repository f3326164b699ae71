#include "native/browser/web_driver_identity.hpp"

#include <fmt/format.h>

#include <set>
#include <span>

#include "core/base/format.hpp"
#include "core/base/sha256.hpp"
#include "native/browser/web_driver_call.hpp"
#include "native/browser/web_driver_target.hpp"

namespace driftscope {
namespace {

void add_versions(const nlohmann::ordered_json& value, std::set<std::string>& versions) {
  constexpr std::size_t widest = 60;
  if (!value.is_structured()) return;
  for (const auto& [name, one] : value.items()) {
    if (name == "session") continue;
    if (one.is_string() && (name == "version" || name == "browserVersion"))
      versions.insert(plain_text(one.get<std::string>(), widest));
    add_versions(one, versions);
  }
}

}  // namespace

std::string versions_in_status(const nlohmann::ordered_json& status) {
  std::set<std::string> versions;
  add_versions(status, versions);
  return fmt::format("{}", fmt::join(versions, ", "));
}

Result<std::string> web_driver_identity(const Target& target, const WebDriverOptions& options) {
  constexpr std::chrono::seconds patience{5};
  DRIFTSCOPE_TRY(const WebDriverTarget found, find_web_driver_target(target, options));
  std::string text =
      fmt::format("{}, capabilities {}", found.address.text(),
                  sha256_hex(std::as_bytes(std::span(found.capabilities.data(), found.capabilities.size()))));
  const DriverAnswer answer = ask_driver(found.address, {.path = "/status", .patience = patience});
  const std::string versions = answer.ok() ? versions_in_status(answer.value) : std::string();
  return versions.empty() ? text : text + ", versions " + versions;
}

}  // namespace driftscope
