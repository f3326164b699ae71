#include "native/browser/browsers.hpp"

#include <glob.h>

#include <array>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>

#include "core/runtime/engine.hpp"
#include "native/browser/browser_features.hpp"
#include "native/browser/chromium_flags.hpp"
#include "native/browser/chromium_sandbox.hpp"
#include "native/browser/firefox_profile.hpp"
#include "native/browser/xvfb.hpp"
#include "native/os/child_process.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

struct Kind {
  const char* host;
  const char* label;
  const char* variable;
  std::vector<std::string> programs;  // may hold wildcards
  bool needs_display;                 // for --version as well
};

const std::array<Kind, 3>& kinds() {
  static const std::array<Kind, 3> all = {{
      {"chrome",
       "Chromium",
       "DRIFTSCOPE_CHROME",
       {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"},
       false},
      {"firefox", "Firefox", "DRIFTSCOPE_FIREFOX", {"firefox-esr", "firefox"}, false},
      {"safari",
       "WebKitGTK (Safari's engine)",
       "DRIFTSCOPE_SAFARI",
       {"/usr/lib/*/webkit2gtk-4.1/MiniBrowser", "/usr/libexec/webkit2gtk-4.1/MiniBrowser"},
       true},
  }};
  return all;
}

const Kind* find_kind(std::string_view host) {
  for (const Kind& kind : kinds())
    if (host == kind.host) return &kind;
  return nullptr;
}

fs::path find_by_pattern(const std::string& pattern) {
  if (pattern.find('*') == std::string::npos) return find_program(pattern);
  glob_t matches{};
  fs::path found;
  if (glob(pattern.c_str(), 0, nullptr, &matches) == 0 && matches.gl_pathc > 0)
    found = find_program(matches.gl_pathv[0]);
  globfree(&matches);
  return found;
}

Result<fs::path> find_usual_browser(const Kind& kind) {
  if (const char* named = std::getenv(kind.variable); named && *named) {
    const fs::path program = find_program(named);
    if (!program.empty()) return program;
    return missing_error(std::string(kind.host) + ": '" + named + "' (from " + kind.variable +
                         ") is not a program");
  }
  for (const std::string& pattern : kind.programs)
    if (fs::path program = find_by_pattern(pattern); !program.empty()) return program;
  for (const std::string& pattern : kind.programs)
    if (const std::string why = why_passed_over(pattern); !why.empty())
      return missing_error(std::string(kind.host) + ": " + why + "; fix that, or name it with " +
                           kind.variable);
  return missing_error(std::string(kind.host) + ": " + kind.label +
                       " is not installed; './tools/setup' installs it");
}

Result<fs::path> find_browser(const Kind& kind, const BrowserFeature* feature) {
  auto usual = find_usual_browser(kind);
  if (!feature) return usual;
  return find_browser_with(*feature, usual.ok() ? *usual : fs::path());
}

// "Chromium 156.0 built on Debian GNU/Linux 12 (bookworm)": name and number suffice.
std::string version_in(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  line = line.substr(0, line.find(" built on "));
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

// MiniBrowser reports its version only if it can open a window.
Result<std::string> ask_version(ProcessSpec spec, bool needs_display) {
  constexpr int timeout_ms = 20000;
  if (!needs_display) return command_output(spec, timeout_ms);
  DRIFTSCOPE_TRY(const TempFolder folder, TempFolder::make());
  DRIFTSCOPE_TRY(const Xvfb display, Xvfb::start(folder.path()));
  spec.environment = display.environment();
  spec.without = {"WAYLAND_DISPLAY"};
  return command_output(spec, timeout_ms);
}

bool has_gpu() {
  glob_t matches{};
  const bool found = glob("/dev/dri/renderD*", 0, nullptr, &matches) == 0;
  globfree(&matches);
  return found;
}

// $DRIFTSCOPE_CHROME_FLAGS, separated by spaces: to look into a browser's fault.
void add_flags_of_user(BrowserCommand& command) {
  const char* flags = std::getenv("DRIFTSCOPE_CHROME_FLAGS");
  std::istringstream words(flags ? flags : "");
  for (std::string word; words >> word;) command.arguments.push_back(word);
}

Result<BrowserCommand> chrome_command(const HostInfo& host, const fs::path& profile, const std::string& url) {
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

Result<BrowserCommand> firefox_command(const HostInfo& host, const fs::path& profile,
                                       const std::string& url) {
  const fs::path folder = profile / "firefox";
  DRIFTSCOPE_CHECK(write_firefox_profile(folder));
  BrowserCommand command;
  command.arguments = {host.program.string(), "--no-remote", "--profile", folder.string(), url};
  command.environment = {{"MOZ_ENABLE_WAYLAND", "0"}, {"MOZ_CRASHREPORTER_DISABLE", "1"}};
  command.needs_display = true;  // with --headless there is no WebGL2
  return command;
}

BrowserCommand safari_command(const HostInfo& host, const std::string& url) {
  BrowserCommand command;
  command.arguments = {host.program.string(), url};
  command.environment = {{"JSC_useSharedArrayBuffer", "1"}, {"GDK_BACKEND", "x11"}};
  command.needs_display = true;
  return command;
}

}  // namespace

const std::vector<std::string>& browser_hosts() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Kind& kind : kinds()) all.emplace_back(kind.host);
    return all;
  }();
  return names;
}

Result<HostInfo> probe_host(std::string_view host, std::string_view wanted) {
  const Kind* kind = find_kind(host);
  if (!kind)
    return bad_input("'" + std::string(host) + "' is not a browser; expected chrome, firefox or safari");
  const BrowserFeature* feature = find_browser_feature(wanted);
  if (feature && feature->host != host) feature = nullptr;
  const std::string started_with = feature ? feature->name : "";
  DRIFTSCOPE_TRY(const fs::path program, find_browser(*kind, feature));
  // Probing takes up to a second, and a comparison would do it for every run.
  static std::mutex mutex;
  static std::map<fs::path, std::string> versions;
  {
    const std::lock_guard lock(mutex);
    if (const auto known = versions.find(program); known != versions.end())
      return HostInfo{kind->host, kind->label, program, known->second, started_with};
  }
  ProcessSpec spec;
  spec.arguments = {program.string(), "--version"};
  auto version = ask_version(std::move(spec), kind->needs_display);
  if (!version.ok()) {
    Error error = std::move(version).error();
    if (error.kind != ErrorKind::cancelled) error.kind = ErrorKind::missing;
    return in_context(std::move(error), std::string(host));
  }
  const std::lock_guard lock(mutex);
  versions[program] = version_in(*version);
  return HostInfo{kind->host, kind->label, program, versions[program], started_with};
}

Result<HostInfo> probe_target_host(const Target& target) {
  const auto engine = find_engine(target.engine);
  return probe_host(target.host, engine.ok() ? (*engine)->info().browser_feature : std::string());
}

Result<BrowserCommand> browser_command(const HostInfo& host, const fs::path& profile,
                                       const std::string& url) {
  if (host.host == "firefox") return firefox_command(host, profile, url);
  if (host.host == "safari") return safari_command(host, url);
  return chrome_command(host, profile, url);
}

}  // namespace driftscope
