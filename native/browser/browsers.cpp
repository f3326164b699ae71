#include "native/browser/browsers.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>

#include "core/runtime/engine.hpp"
#include "native/browser/browser_features.hpp"
#include "native/browser/xvfb.hpp"
#include "native/os/child_process.hpp"
#include "native/os/desktop.hpp"
#include "native/os/find_program.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

const BrowserKind* find_kind(std::string_view host) {
  for (const BrowserKind& kind : browser_table().all())
    if (host == kind.host) return &kind;
  return nullptr;
}

/// "~/…" is below the home folder. Of several matches the last one, which is the newest where they have
/// numbers.
fs::path find_by_pattern(const std::string& given) {
  std::string pattern = given;
  if (pattern.starts_with("~/")) {
    const char* const home = std::getenv("HOME");
    if (home == nullptr || *home == '\0') return {};
    pattern.replace(0, 1, home);
  }
  if (pattern.find('*') == std::string::npos) return find_program(pattern);
  glob_t matches{};
  fs::path found;
  if (glob(pattern.c_str(), 0, nullptr, &matches) == 0 && matches.gl_pathc > 0)
    found = find_program(matches.gl_pathv[matches.gl_pathc - 1]);
  globfree(&matches);
  return found;
}

/// "a snap" or "a flatpak": those have their own folders for temporary files and read no others, so that a
/// profile that we make is not there for them. Empty: neither.
std::string_view package_apart(const fs::path& program) {
  std::error_code error;
  const fs::path real = fs::canonical(program, error);
  if (error) return "";
  if (program.string().starts_with("/snap/") || real.string().starts_with("/snap/") ||
      real.filename() == "snap")
    return "a snap";
  return program.string().find("/flatpak/exports/bin/") == std::string::npos ? "" : "a flatpak";
}

Error cannot_read_profiles(const BrowserKind& kind, const fs::path& program) {
  return missing_error(
      fmt::format("{}: '{}' is {}, which cannot read the profile that it is given; install {} "
                  "as a package of the system or from its makers, or name it with {}",
                  kind.host, program.string(), package_apart(program), kind.label, kind.variable));
}

Result<fs::path> find_usual_browser(const BrowserKind& kind) {
  if (const char* named = std::getenv(kind.variable.c_str()); named && *named) {
    const fs::path program = find_program(named);
    if (!program.empty() && !package_apart(program).empty()) return cannot_read_profiles(kind, program);
    if (!program.empty()) return program;
    return missing_error(kind.host + ": '" + named + "' (from " + kind.variable + ") is not a program");
  }
  fs::path apart;
  for (const std::string& pattern : kind.programs) {
    fs::path program = find_by_pattern(pattern);
    if (program.empty()) continue;
    if (package_apart(program).empty()) return program;
    if (apart.empty()) apart = std::move(program);
  }
  if (!apart.empty()) return cannot_read_profiles(kind, apart);
  for (const std::string& pattern : kind.programs)
    if (const std::string why = why_passed_over(pattern); !why.empty())
      return missing_error(kind.host + ": " + why + "; fix that, or name it with " + kind.variable);
  return missing_error(fmt::format(
      "{}: {} is not installed; install it, or name it with {} (in a clone './tools/setup' installs it)",
      kind.host, kind.label, kind.variable));
}

Result<fs::path> find_browser(const BrowserKind& kind, const BrowserFeature* feature) {
  auto usual = find_usual_browser(kind);
  if (!feature) return usual;
  return find_browser_with(*feature, usual.ok() ? *usual : fs::path());
}

// "Chromium 156.0 built on Debian GNU/Linux 12 (bookworm)": name and number suffice.
std::string version_in(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  line = line.substr(0, line.find(" built on "));
  while (!line.empty() && line.back() == ' ') line.pop_back();
  // safaridriver: "Included with Safari 17.4 (19618.1.15)".
  constexpr std::string_view of_driver = "Included with ";
  return line.starts_with(of_driver) ? line.substr(of_driver.size()) : line;
}

// On Windows --version opens a window. Chrome and Edge have a folder of their version's name beside them,
// Firefox a file that says it.
Result<std::string> version_beside(const fs::path& program) {
  std::error_code error;
  std::string newest;
  for (const auto& entry : fs::directory_iterator(program.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789.") == std::string::npos && std::ranges::count(name, '.') == 3)
      newest = std::max(newest, name);
  }
  if (!newest.empty()) return "Chromium " + newest;
  std::ifstream file(program.parent_path() / "application.ini");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("Version=")) return "Mozilla Firefox " + line.substr(8, line.find('\r') - 8);
  return missing_error("'" + program.string() + "' does not say its version");
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

}  // namespace

const std::vector<std::string>& browser_hosts() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const BrowserKind& kind : browser_table().all()) all.push_back(kind.host);
    return all;
  }();
  return names;
}

Result<HostInfo> probe_host(std::string_view host, std::string_view wanted) {
  const BrowserKind* kind = find_kind(host);
  if (!kind)
    return bad_input(
        fmt::format("'{}' is not a browser; expected one of {}", host, fmt::join(browser_hosts(), ", ")));
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
  auto version = program.extension() == ".exe"
                     ? version_beside(program)
                     : ask_version(std::move(spec), kind->needs_display && has_x_windows());
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
  const BrowserKind* const kind = find_kind(host.host);
  if (!kind) return internal_error("'" + host.host + "' is not a browser");
  return kind->command(host, profile, url);
}

}  // namespace driftscope
