#include "native/browser/launcher.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "native/browser/start_page.hpp"
#include "native/os/idle.hpp"
#include "native/os/log_tail.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

// The path of a socket may have 107 characters, and Chromium's own has 45 below its folder for temporary
// files: it ends at once where TMPDIR names a deep folder.
bool is_too_long_for_sockets(const fs::path& folder) {
  constexpr std::size_t longest = 107 - 45;
  return folder.string().size() > longest;
}

// All files of a browser go into the profile folder, none into the user's own.
Result<std::map<std::string, std::string>> private_folders(const fs::path& folder) {
  std::map<std::string, std::string> environment;
  const std::pair<const char*, const char*> places[] = {
      {"HOME", "home"},          {"XDG_CONFIG_HOME", "config"}, {"XDG_CACHE_HOME", "cache"},
      {"XDG_DATA_HOME", "data"}, {"XDG_STATE_HOME", "state"},   {"XDG_RUNTIME_DIR", "runtime"},
      {"TMPDIR", "tmp"}};
  for (const auto& [variable, name] : places) {
    std::error_code error;
    fs::create_directory(folder / name, error);
    if (error) return io_error("cannot make '" + (folder / name).string() + "': " + error.message());
    fs::permissions(folder / name, fs::perms::owner_all, error);
    environment[variable] = (folder / name).string();
  }
  // No desktop services: they would outlive the browser, or interfere with another one.
  environment["NO_AT_BRIDGE"] = "1";
  environment["GSETTINGS_BACKEND"] = "memory";
  environment["DBUS_SESSION_BUS_ADDRESS"] = "disabled:";
  return environment;
}

// Those of the environment that name a proxy, in whatever case; auto_proxy is Chromium's.
std::vector<std::string> proxy_variables() {
  std::vector<std::string> names;
  for (char* const* entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    std::string name = *entry;
    name.resize(std::min(name.find('='), name.size()));
    std::string lower = name;
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    if (lower.ends_with("_proxy") || lower == "socks_server") names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

Result<Browser> Browser::start(const HostInfo& host, const std::string& url) {
  DRIFTSCOPE_TRY(TempFolder folder, TempFolder::make());
  Browser browser(std::move(folder));
  const fs::path& profile = browser.folder_.path();
  DRIFTSCOPE_TRY(const std::string start_page, write_start_page(profile, url));
  DRIFTSCOPE_TRY(const BrowserCommand command, browser_command(host, profile, start_page));
  ProcessSpec spec;
  DRIFTSCOPE_TRY(spec.environment, private_folders(profile));
  if (is_too_long_for_sockets(spec.environment["TMPDIR"])) {
    DRIFTSCOPE_TRY(TempFolder sockets, TempFolder::make_in("/tmp"));
    browser.sockets_.emplace(std::move(sockets));
    spec.environment["TMPDIR"] = browser.sockets_->path().string();
  }
  spec.arguments = command.arguments;
  spec.output = profile / "browser.log";
  spec.without = {"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"};
  // A proxy would see the page's address, and could not reach it.
  std::ranges::copy(proxy_variables(), std::back_inserter(spec.without));
  spec.environment["no_proxy"] = spec.environment["NO_PROXY"] = "*";
  for (const auto& [name, value] : command.environment) spec.environment[name] = value;
  if (command.needs_display) {
    auto display = Xvfb::start(profile);
    if (!display.ok()) {
      Error error = std::move(display).error();
      if (error.kind == ErrorKind::missing)
        error.message += "; " + host.label + " needs it, './tools/setup' installs it (package xvfb)";
      return error;
    }
    browser.display_.emplace(*std::move(display));
    for (const auto& [name, value] : browser.display_->environment()) spec.environment[name] = value;
  }
  DRIFTSCOPE_TRY(ChildProcess process, ChildProcess::start(spec));
  browser.process_.emplace(std::move(process));
  if (command.driver_port != 0) {
    constexpr std::chrono::seconds patience{30};
    auto driver = WebDriver::open(command.driver_port, command.capabilities, url, patience,
                                  [&browser] { return browser.running(); });
    if (!driver.ok()) return in_context(std::move(driver).error(), host.host + " (" + host.version + ")");
    browser.driver_.emplace(*std::move(driver));
  }
  return browser;
}

Browser::~Browser() { end(); }

bool Browser::running() const { return process_ && process_->running(); }

std::string Browser::exit_text() const {
  if (!process_) return {};
  return process_->exit_text() + "; its last output: " + log_tail(folder_.path() / "browser.log");
}

void Browser::wait_until_idle() const {
  if (process_) driftscope::wait_until_idle(find_processes(process_->mark(), false));
}

std::int64_t Browser::memory() const {
  return process_ ? total_pss(find_processes(process_->mark(), false)) : 0;
}

std::int64_t Browser::gpu_process_memory() const {
  if (!process_) return 0;
  std::vector<pid_t> found = find_processes(process_->mark(), false);
  // Chromium names its kinds of process by an argument (and makes all of them one text), Firefox by the last.
  std::erase_if(found, [](pid_t pid) {
    const std::vector<std::string> arguments = command_line_of(pid);
    return arguments.empty() ||
           (arguments.back() != "gpu" && std::ranges::none_of(arguments, [](const std::string& argument) {
              return argument.find("--type=gpu-process") != std::string::npos;
            }));
  });
  return total_pss(found);
}

void Browser::end() {
  driver_.reset();
  // Its profile is deleted with it: there is nothing to save, so that the grace time is short.
  if (process_) process_->end(300);
  process_.reset();
  if (display_) display_->end();
  display_.reset();
}

}  // namespace driftscope
