// Who serves the page to browsers of a WebDriver under a fixed port or a public origin (--webdriver-port,
// --webdriver-page): one server of this process, as the port can be had once. Clients: HostContext, bench.
#pragma once

#include <filesystem>
#include <memory>

#include "core/base/result.hpp"
#include "native/browser/web_driver_options.hpp"
#include "native/http/server.hpp"

namespace driftscope {

/// The one that is there, or a new one; it stops with the last who has it. Without a fixed port each call
/// starts one. Errors: of web_driver_page; the port serves another page of this command; those of
/// Server::start.
[[nodiscard]] Result<std::shared_ptr<Server>> web_driver_server(const std::filesystem::path& site,
                                                                const WebDriverOptions& options);

}  // namespace driftscope
