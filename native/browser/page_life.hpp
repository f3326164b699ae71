// How long a browser may take before it is given up: a pure rule over what its page has said of a job.
// A page says at least once a second that it lives. That proves that its process runs and its event loop
// turns, not that its worker gets anywhere: a worker in a long call (compiling, one large kernel) and one
// that hangs look the same. A page that falls silent is given up soon, one that lives without progress late.
// Clients: run_in_browser, the bench's browser_subject.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "native/http/job.hpp"

namespace driftscope {

struct LifeLimits {
  std::chrono::milliseconds open;     ///< from the start until the page opens the job
  std::chrono::milliseconds silence;  ///< between two signs of life of the page
  std::chrono::milliseconds stall;    ///< between two changes of its progress, while it lives
};

/// `timeout` without a sign of life; `stall` without progress, by default five times that.
[[nodiscard]] LifeLimits life_limits(std::chrono::milliseconds timeout,
                                     std::optional<std::chrono::milliseconds> stall);

/// Why waiting on is pointless at the time `now`, as the end of a sentence that begins with the browser;
/// nothing while it may still succeed.
[[nodiscard]] std::optional<std::string> given_up(const Job::Snapshot& job, Clock::time_point now,
                                                  const LifeLimits& limits);

/// "12.3 s"
[[nodiscard]] std::string seconds_text(std::chrono::milliseconds time);

}  // namespace driftscope
