// Which Chromium an engine that needs WebNN gets: fake programs that answer the question as a browser would.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include "native/browser/browser_features.hpp"
#include "native/browser/browsers.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope::test::browser_features_test {
namespace {

namespace fs = std::filesystem;

/// Sets a variable of the environment for a scope.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

struct Machine {
  TempFolder folder = *TempFolder::make();
  Variable cache{"XDG_CACHE_HOME", (folder.path() / "cache").string()};
  Variable named{"DRIFTSCOPE_CHROME_WEBNN", ""};

  /// A program that prints this when it is asked for a page.
  [[nodiscard]] fs::path program(const fs::path& name, const std::string& page) const {
    const fs::path path = folder.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\ncat <<'END'\n" << page << "\nEND\n";
    chmod(path.c_str(), 0700);
    return path;
  }
};

const BrowserFeature& webnn() { return *find_browser_feature("webnn"); }

const std::string lacking = R"(<p id="p">answer no: WebNN is not supported on this platform.</p>)";

}  // namespace

TEST_CASE("BrowserFeature_UsualBrowserHasIt_IsTaken") {
  const Machine machine;
  const fs::path usual = machine.program("usual", R"(<p id="p">answer yes.</p>)");
  const fs::path unpacked = machine.program("cache/driftscope/chromium-webnn-153.0.0/chromium", "");
  const auto found = find_browser_with(webnn(), usual);
  REQUIRE_MESSAGE(found.ok(), found.error().message);
  CHECK(*found == usual);
}

TEST_CASE("BrowserFeature_UsualBrowserLacksIt_TheNewestUnpackedIs") {
  const Machine machine;
  const fs::path usual = machine.program("usual", lacking);
  (void)machine.program("cache/driftscope/chromium-webnn-152.0.0/chromium", "");
  const fs::path newest = machine.program("cache/driftscope/chromium-webnn-153.0.0/chromium", "");
  const auto found = find_browser_with(webnn(), usual);
  REQUIRE_MESSAGE(found.ok(), found.error().message);
  CHECK(*found == newest);
}

TEST_CASE("BrowserFeature_NoneHasIt_SaysWhatTheBrowserAnsweredAndHowToInstall") {
  const Machine machine;
  const auto found = find_browser_with(webnn(), machine.program("usual", lacking));
  REQUIRE_FALSE(found.ok());
  CHECK(found.error().kind == ErrorKind::missing);
  CHECK(found.error().message.find("not supported on this platform") != std::string::npos);
  CHECK(found.error().message.find("tools/setup") != std::string::npos);
}

TEST_CASE("BrowserFeature_NamedByItsVariable_IsTakenUnasked") {
  const Machine machine;
  const fs::path named = machine.program("mine", lacking);
  const Variable variable("DRIFTSCOPE_CHROME_WEBNN", named.string());
  const auto found = find_browser_with(webnn(), machine.program("usual", "<p>answer yes.</p>"));
  REQUIRE_MESSAGE(found.ok(), found.error().message);
  CHECK(*found == named);
  const Variable wrong("DRIFTSCOPE_CHROME_WEBNN", "/no/such/browser");
  const auto none = find_browser_with(webnn(), {});
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().kind == ErrorKind::missing);
  CHECK(none.error().message.find("DRIFTSCOPE_CHROME_WEBNN") != std::string::npos);
}

TEST_CASE("BrowserCommand_WithFeature_EnablesItAndLeavesWebGpuOut") {
  const Machine machine;
  HostInfo host{"chrome", "Fake", machine.program("usual", ""), "Fake 1.0", "webnn"};
  const auto has = [&](const std::string& flag) {
    const auto command = browser_command(host, machine.folder.path(), "about:blank");
    REQUIRE(command.ok());
    return std::ranges::find(command->arguments, flag) != command->arguments.end();
  };
  CHECK(has("--enable-features=WebMachineLearningNeuralNetwork"));
  CHECK_FALSE(has("--enable-unsafe-webgpu"));
  host.feature.clear();
  CHECK_FALSE(has("--enable-features=WebMachineLearningNeuralNetwork"));
  CHECK(has("--enable-unsafe-webgpu"));
}

}  // namespace driftscope::test::browser_features_test
