#include "native/os/namespaces.hpp"

#include <filesystem>

#include "native/os/child_process.hpp"

namespace driftscope {

bool may_make_namespaces() {
  std::error_code error;
  if (!std::filesystem::exists("/proc/self/ns/user", error)) return true;  // not Linux
  constexpr int timeout_ms = 5000;
  ProcessSpec spec;
  spec.arguments = {"unshare", "--user", "--pid", "--net", "true"};
  const auto made = command_output(spec, timeout_ms);
  return made.ok() || made.error().kind == ErrorKind::missing;
}

// The browser itself says so, where neither is allowed.
bool may_gain_rights() { return true; }

}  // namespace driftscope
