#include "native/browser/chromium_sandbox.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "native/os/namespaces.hpp"

namespace driftscope {
namespace {

// The older sandbox: a program of root's that makes the namespaces.
bool has_setuid_helper() {
  if (!may_gain_rights()) return false;
  for (const char* path : {"/usr/lib/chromium/chrome-sandbox", "/usr/lib64/chromium/chrome-sandbox",
                           "/usr/lib/chromium-browser/chrome-sandbox", "/opt/google/chrome/chrome-sandbox"}) {
    struct stat helper{};
    if (stat(path, &helper) == 0 && helper.st_uid == 0 && (helper.st_mode & S_ISUID) != 0) return true;
  }
  return false;
}

}  // namespace

const std::string& why_no_sandbox() {
  static const std::string why = [] {
    if (geteuid() == 0) return std::string("it does not work as root");
    if (may_make_namespaces() || has_setuid_helper()) return std::string();
    return std::string("the kernel, or the container that this runs in, forbids user namespaces");
  }();
  return why;
}

Result<std::vector<std::string>> sandbox_arguments(const std::string& why, bool root,
                                                   const std::string& setting) {
  if (!setting.empty() && setting != "required" && setting != "if-possible")
    return bad_input("DRIFTSCOPE_SANDBOX is '" + setting + "'; expected required or if-possible, or nothing");
  if (why.empty()) return std::vector<std::string>{};
  if ((root && setting != "required") || setting == "if-possible")
    return std::vector<std::string>{"--no-sandbox"};
  if (root)
    return missing_error("Chromium has no sandbox here: " + why +
                         ", and DRIFTSCOPE_SANDBOX is required. Run as another user");
  return missing_error(
      "Chromium has no sandbox here: " + why +
      ". Allow them (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0; in a "
      "container a seccomp profile with clone and unshare), or set DRIFTSCOPE_SANDBOX=if-possible to run "
      "models that you trust without it");
}

Result<std::vector<std::string>> sandbox_arguments() {
  const char* setting = std::getenv("DRIFTSCOPE_SANDBOX");
  return sandbox_arguments(why_no_sandbox(), geteuid() == 0, setting != nullptr ? setting : "");
}

}  // namespace driftscope
