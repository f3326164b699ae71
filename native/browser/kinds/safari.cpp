// Safari itself on macOS, through its driver; elsewhere WebKitGTK's MiniBrowser, which has its engine.
#include "native/browser/browsers.hpp"
#include "native/browser/web_driver.hpp"
#include "native/os/desktop.hpp"

namespace driftscope::browsers::safari {
namespace {

namespace fs = std::filesystem;

Result<BrowserCommand> command_for(const HostInfo& host, const fs::path&, const std::string& url) {
  BrowserCommand command;
  command.arguments = {host.program.string(), url};
  command.environment = {{"JSC_useSharedArrayBuffer", "1"}, {"GDK_BACKEND", "x11"}};
  command.needs_display = has_x_windows();
  if (host.program.filename() == "safaridriver") {
    DRIFTSCOPE_TRY(command.driver_port, free_port());
    command.arguments[1] = "-p";
    command.arguments.push_back(std::to_string(command.driver_port));
    // Without a name, whatever the driver has: WebKitGTK's driver has the same options.
    command.capabilities = R"([{"browserName": "safari"}, {}])";
  }
  return command;
}

}  // namespace

void add_to(BrowserTable& table) {
  table.add({.host = "safari",
             .label = "WebKitGTK (Safari's engine)",
             .order = 30,
             .variable = "DRIFTSCOPE_SAFARI",
             .programs = {"/usr/lib/*/webkit2gtk-4.1/MiniBrowser", "/usr/libexec/webkit2gtk-4.1/MiniBrowser",
                          "/usr/bin/safaridriver"},
             .needs_display = true,
             .command = command_for});
}

}  // namespace driftscope::browsers::safari
