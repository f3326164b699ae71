// Where browsers are found: the PATH, the places of other systems and of Playwright, and which are no use.
#include "native/browser/browsers.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include "native/os/temp_folder.hpp"

namespace driftscope::test::browsers_test {
namespace {

namespace fs = std::filesystem;

/// A home folder and a PATH of their own, without any browser.
class Machine {
 public:
  Machine() {
    for (const auto& [name, value] :
         {std::pair("HOME", folder_.path() / "home"), std::pair("PATH", folder_.path() / "bin"),
          std::pair("DRIFTSCOPE_CHROME", fs::path())}) {
      const char* const before = std::getenv(name);
      before_.emplace_back(name, before == nullptr ? std::nullopt : std::optional<std::string>(before));
      setenv(name, value.c_str(), 1);
    }
  }
  ~Machine() {
    for (const auto& [name, before] : before_) before ? setenv(name, before->c_str(), 1) : unsetenv(name);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// A program that says this when it is asked for its version.
  [[nodiscard]] fs::path program(const fs::path& name, const std::string& version) const {
    const fs::path path = folder_.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\necho '" << version << "'\n";
    chmod(path.c_str(), 0700);
    return path;
  }
  [[nodiscard]] const fs::path& folder() const { return folder_.path(); }

 private:
  TempFolder folder_ = *TempFolder::make();
  std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

std::string message_of(const Result<HostInfo>& found) {
  return found.ok() ? "found " + found->program.string() : found.error().message;
}

}  // namespace

TEST_CASE("Browsers_None_SaysHowToNameOne") {
  const Machine machine;
  CHECK(message_of(probe_host("chrome")) ==
        "chrome: Chromium is not installed; install it, or name it with DRIFTSCOPE_CHROME (in a clone "
        "'./tools/setup' installs it)");
}

TEST_CASE("Browsers_OfPlaywright_TheNewestIsTakenWhereThereIsNoOther") {
  const Machine machine;
  const fs::path playwright = "home/.cache/ms-playwright";
  (void)machine.program(playwright / "chromium-1181/chrome-linux/chrome", "Chromium 139.0.1");
  const fs::path newest =
      machine.program(playwright / "chromium-1194/chrome-linux/chrome", "Chromium 141.0.2");
  const auto found = probe_host("chrome");
  REQUIRE_MESSAGE(found.ok(), message_of(found));
  CHECK(found->program == newest);
  CHECK(found->version == "Chromium 141.0.2");
  const fs::path on_path = machine.program("bin/google-chrome", "Google Chrome 142.0.3");
  CHECK(message_of(probe_host("chrome")) == "found " + on_path.string());
}

TEST_CASE("Browsers_ThatAreSnaps_AreNoUse") {
  const Machine machine;
  const fs::path snap = machine.program("bin/snap", "snap 2.63");
  fs::create_symlink(snap, machine.folder() / "bin/chromium");
  const std::string message = message_of(probe_host("chrome"));
  CHECK_MESSAGE(message.find("bin/chromium' is a snap, which cannot read the profile that it is given") !=
                    std::string::npos,
                message);
  const fs::path other = machine.program("bin/google-chrome", "Google Chrome 142.0.4");
  CHECK(message_of(probe_host("chrome")) == "found " + other.string());
}

TEST_CASE("Browsers_ThatAreFlatpaks_AreNoUse") {
  const Machine machine;
  const fs::path flatpak =
      machine.program("home/.local/share/flatpak/exports/bin/org.chromium.Chromium", "Chromium 142.0.5");
  const std::string expected = "flatpak/exports/bin/org.chromium.Chromium' is a flatpak, which cannot read";
  CHECK_MESSAGE(message_of(probe_host("chrome")).find(expected) != std::string::npos,
                message_of(probe_host("chrome")));
  setenv("DRIFTSCOPE_CHROME", flatpak.c_str(), 1);
  CHECK_MESSAGE(message_of(probe_host("chrome")).find(expected) != std::string::npos,
                message_of(probe_host("chrome")));
}

TEST_CASE("Browsers_OfWindows_HaveTheirVersionBesideThem") {
  const Machine machine;
  const fs::path chrome = machine.program("chrome/chrome.exe", "it must not be started");
  for (const char* name : {"131.0.6778.86", "131.0.6778.109", "Dictionaries"})
    fs::create_directories(chrome.parent_path() / name);
  setenv("DRIFTSCOPE_CHROME", chrome.c_str(), 1);
  auto found = probe_host("chrome");
  REQUIRE_MESSAGE(found.ok(), message_of(found));
  CHECK(found->version == "Chromium 131.0.6778.86");
  const fs::path firefox = machine.program("firefox/firefox.exe", "it must not be started");
  std::ofstream(firefox.parent_path() / "application.ini") << "[App]\r\nVersion=133.0\r\n";
  setenv("DRIFTSCOPE_CHROME", firefox.c_str(), 1);
  found = probe_host("chrome");
  REQUIRE_MESSAGE(found.ok(), message_of(found));
  CHECK(found->version == "Mozilla Firefox 133.0");
}

}  // namespace driftscope::test::browsers_test
