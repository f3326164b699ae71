// Chromium and Google Chrome.
#include <glob.h>

#include <cstdlib>
#include <sstream>

#include "native/browser/browser_features.hpp"
#include "native/browser/browsers.hpp"
#include "native/browser/chromium_flags.hpp"
#include "native/browser/chromium_sandbox.hpp"

namespace driftscope::browsers::chrome {
namespace {

namespace fs = std::filesystem;

bool has_gpu() {
  glob_t matches{};
  const bool found = glob("/dev/dri/renderD*", 0, nullptr, &matches) == 0;
  globfree(&matches);
  return found;
}

// Linux, macOS, Windows; the browsers of Playwright, where a test runner has them.
std::vector<std::string> programs() {
  return {"chromium",
          "chromium-browser",
          "google-chrome",
          "google-chrome-stable",
          "microsoft-edge",
          "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
          "/Applications/Chromium.app/Contents/MacOS/Chromium",
          "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
          "/C:/Program Files/Google/Chrome/Application/chrome.exe",
          "/C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
          "~/.cache/ms-playwright/chromium-*/chrome-linux*/chrome",
          "~/Library/Caches/ms-playwright/chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
          "~/AppData/Local/ms-playwright/chromium-*/chrome-win*/chrome.exe",
          "~/.local/share/flatpak/exports/bin/*.Chrom*",
          "/var/lib/flatpak/exports/bin/*.Chrom*"};
}

// $DRIFTSCOPE_CHROME_FLAGS, separated by spaces: to look into a browser's fault.
void add_flags_of_user(BrowserCommand& command) {
  const char* flags = std::getenv("DRIFTSCOPE_CHROME_FLAGS");
  std::istringstream words(flags ? flags : "");
  for (std::string word; words >> word;) command.arguments.push_back(word);
}

Result<BrowserCommand> command_for(const HostInfo& host, const fs::path& profile, const std::string& url) {
  DRIFTSCOPE_TRY(const std::vector<std::string> sandbox, sandbox_arguments());
  BrowserCommand command;
  command.arguments = chromium_flags(profile / "chrome");
  command.arguments.insert(command.arguments.begin(), host.program.string());
  if (const BrowserFeature* feature = find_browser_feature(host.feature)) {
    // Without WebGPU, which it does not need: a runtime that used WebNN returned zeros beside the software
    // adapter.
    command.arguments.push_back("--enable-features=" + feature->enabled);
  } else {
    command.arguments.emplace_back("--enable-unsafe-webgpu");
    if (!has_gpu())
      for (const char* flag :
           {"--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan", "--enable-unsafe-swiftshader"})
        command.arguments.emplace_back(flag);
  }
  add_flags_of_user(command);
  command.arguments.insert(command.arguments.end(), sandbox.begin(), sandbox.end());
  command.arguments.push_back(url);
  return command;
}

}  // namespace

void add_to(BrowserTable& table) {
  table.add({.host = "chrome",
             .label = "Chromium",
             .order = 10,
             .variable = "DRIFTSCOPE_CHROME",
             .programs = programs(),
             .command = command_for});
}

}  // namespace driftscope::browsers::chrome
