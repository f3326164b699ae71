// What must not be shown of a WebDriver's messages: drivers repeat the capabilities that they were asked for,
// and clouds take keys in these. Clients: web_driver_call, remote_browser.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "native/browser/web_driver_address.hpp"

namespace driftscope {

using DriverSecrets = std::vector<std::string>;

/// All texts in a capabilities object, at any depth, but for very short ones and those that say which browser
/// is wanted on which platform.
[[nodiscard]] DriverSecrets secrets_in(const nlohmann::ordered_json& capabilities);

/// User and key, also as they are sent.
[[nodiscard]] DriverSecrets secrets_of(const WebDriverAddress& address);

/// `text` with *** for each of them, also as JSON writes it, and without the capabilities that Selenium
/// repeats.
[[nodiscard]] std::string without_secrets(std::string text, const DriverSecrets& secrets);

}  // namespace driftscope
