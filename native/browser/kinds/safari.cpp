// WebKitGTK's MiniBrowser, which has Safari's engine.
#include "native/browser/browsers.hpp"

namespace driftscope::browsers::safari {
namespace {

namespace fs = std::filesystem;

Result<BrowserCommand> command_for(const HostInfo& host, const fs::path&, const std::string& url) {
  BrowserCommand command;
  command.arguments = {host.program.string(), url};
  command.environment = {{"JSC_useSharedArrayBuffer", "1"}, {"GDK_BACKEND", "x11"}};
  command.needs_display = true;
  return command;
}

}  // namespace

void add_to(BrowserTable& table) {
  table.add({.host = "safari",
             .label = "WebKitGTK (Safari's engine)",
             .order = 30,
             .variable = "DRIFTSCOPE_SAFARI",
             .programs = {"/usr/lib/*/webkit2gtk-4.1/MiniBrowser", "/usr/libexec/webkit2gtk-4.1/MiniBrowser"},
             .needs_display = true,
             .command = command_for});
}

}  // namespace driftscope::browsers::safari
