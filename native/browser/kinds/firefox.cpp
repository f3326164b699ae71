// Firefox.
#include "native/browser/browsers.hpp"
#include "native/browser/firefox_profile.hpp"
#include "native/os/desktop.hpp"

namespace driftscope::browsers::firefox {
namespace {

namespace fs = std::filesystem;

Result<BrowserCommand> command_for(const HostInfo& host, const fs::path& profile, const std::string& url) {
  const fs::path folder = profile / "firefox";
  DRIFTSCOPE_CHECK(write_firefox_profile(folder));
  BrowserCommand command;
  command.arguments = {host.program.string(), "--no-remote", "--profile", folder.string(), url};
  command.environment = {{"MOZ_ENABLE_WAYLAND", "0"}, {"MOZ_CRASHREPORTER_DISABLE", "1"}};
  command.needs_display = has_x_windows();  // with --headless there is no WebGL2
  return command;
}

}  // namespace

void add_to(BrowserTable& table) {
  table.add({.host = "firefox",
             .label = "Firefox",
             .order = 20,
             .variable = "DRIFTSCOPE_FIREFOX",
             .programs = {"firefox-esr", "firefox", "/Applications/Firefox.app/Contents/MacOS/firefox",
                          "/C:/Program Files/Mozilla Firefox/firefox.exe",
                          "~/.cache/ms-playwright/firefox-*/firefox/firefox",
                          "~/.local/share/flatpak/exports/bin/org.mozilla.firefox",
                          "/var/lib/flatpak/exports/bin/org.mozilla.firefox"},
             .command = command_for});
}

}  // namespace driftscope::browsers::firefox
