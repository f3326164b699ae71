// What results of a WebDriver's browser depend on, as far as it is known before there is a browser. Client:
// result_store.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/runtime/target.hpp"
#include "native/browser/web_driver_options.hpp"

namespace driftscope {

/// "https://***@hub.example.org/wd/hub, capabilities 4f0c…, versions 156.0.1". Asks the driver for its
/// status; one that says no versions, or does not answer, adds none. Errors: of find_web_driver_target.
[[nodiscard]] Result<std::string> web_driver_identity(const Target& target, const WebDriverOptions& options);

/// All versions in a driver's status, of itself and of the browsers that it has, sorted, each once: "4.48.0,
/// 156.0.1". Those of sessions that are there now are left out.
[[nodiscard]] std::string versions_in_status(const nlohmann::ordered_json& status);

}  // namespace driftscope
