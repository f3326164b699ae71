// The browsers that Driftscope can start: where they are, what version, how they are started with a
// profile of their own. Clients: launcher, doctor.
// With these flags and preferences WebGL2, WebGPU, relaxed SIMD and threads work
// even without a GPU.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/runtime/target.hpp"

namespace driftscope {

/// A host as doctor shows it.
struct HostInfo {
  std::string host;   ///< chrome, firefox, safari
  std::string label;  ///< "Chromium", "Firefox", "WebKitGTK (Safari's engine)"
  std::filesystem::path program;
  std::string version;       ///< "Chromium 156.0.1", "WebKitGTK 2.50.1"
  std::string feature = {};  ///< with which it is started: EngineInfo::browser_feature
};

/// The command that opens a page.
struct BrowserCommand {
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;
  bool needs_display = false;
  /// Of a WebDriver: the port that `arguments` give it, and the capabilities that it is asked for. It opens
  /// the page itself.
  int driver_port = 0;
  std::string capabilities = {};
};

/// A browser that can be started. A kind is a file in kinds/: each FOO.cpp defines `void
/// driftscope::browsers::foo::add_to(BrowserTable&)`; the table is generated from the folder at configure
/// time.
struct BrowserKind {
  std::string host;      ///< as HostInfo
  std::string label;     ///< as HostInfo
  int order = 50;        ///< in lists, ascending
  std::string variable;  ///< of the environment, which names another program
  /// The first that is there, of any system: names of the PATH, or whole paths, which may begin with "~/" and
  /// hold wildcards.
  std::vector<std::string> programs;
  bool needs_display = false;  ///< for --version as well
  /// See browser_command.
  Result<BrowserCommand> (*command)(const HostInfo& host, const std::filesystem::path& profile,
                                    const std::string& url) = nullptr;
};

class BrowserTable {
 public:
  void add(BrowserKind kind) {
    kinds_.insert(std::ranges::upper_bound(kinds_, kind.order, {}, &BrowserKind::order), std::move(kind));
  }
  [[nodiscard]] std::span<const BrowserKind> all() const { return kinds_; }

 private:
  std::vector<BrowserKind> kinds_;
};

/// All of this build (generated: build/generated/browsers/browser_registry.cpp).
[[nodiscard]] const BrowserTable& browser_table();

/// Names of the hosts that are browsers: chrome, firefox, safari.
[[nodiscard]] const std::vector<std::string>& browser_hosts();

/// Looks for the program and asks for its version. Errors: missing, with how to install it;
/// bad_input for a name that is not a browser. $DRIFTSCOPE_CHROME, _FIREFOX and _SAFARI name another
/// program than the usual ones. `feature`: one that has it (browser_features.hpp) and is started with it;
/// where no browser of this kind can have it, the page says so.
[[nodiscard]] Result<HostInfo> probe_host(std::string_view host, std::string_view feature = {});

/// The browser for a target: one that has what its engine needs.
[[nodiscard]] Result<HostInfo> probe_target_host(const Target& target);

/// Writes the browser's settings to its profile folder (which exists and is empty).
[[nodiscard]] Result<BrowserCommand> browser_command(const HostInfo& host,
                                                     const std::filesystem::path& profile,
                                                     const std::string& url);

}  // namespace driftscope
