// Whether this machine has no hostile users. Clients: code that looks for programs and files that others
// could have replaced.
#pragma once

#include <cstdlib>
#include <string_view>

namespace driftscope {

/// GitHub's own runners: a machine for one job, discarded afterwards, on which everybody may write to /opt
/// and /usr/share (actions/runner-images#4509).
[[nodiscard]] inline bool is_machine_of_one_job() {
  const char* const runner = std::getenv("RUNNER_ENVIRONMENT");
  return runner != nullptr && std::string_view(runner) == "github-hosted";
}

}  // namespace driftscope
