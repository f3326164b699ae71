// A page that runs one job after the other, in whichever browser: one that was started for it
// (browser_session.hpp), or one that has joined the hub (remote_session.hpp). Clients: run_in_browser,
// native/host.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/result.hpp"
#include "native/browser/browsers.hpp"
#include "native/http/job.hpp"

namespace driftscope {

/// The engine in a browser has 4 GiB of memory, and needs about two and a half times a model: the original
/// bytes, as tensors, and packed for its kernels.
inline constexpr std::size_t max_browser_model_bytes = std::size_t{1536} << 20;

struct BrowserOptions {
  /// All captured values together.
  std::int64_t max_value_bytes = std::int64_t{1} << 36;
  /// Larger ones (with their external data) are rejected before a browser is started.
  std::size_t max_model_bytes = max_browser_model_bytes;
  /// Longest time without a sign of life, from the start until the page opens, and of the page then.
  std::chrono::milliseconds timeout{60000};
  /// Longest time without progress while the page lives; nothing: a multiple of `timeout` (page_life.hpp).
  std::optional<std::chrono::milliseconds> stall_timeout = {};
  /// A browser that has not opened the page by then is ended and started once more. A start takes seconds;
  /// of a few hundred starts of WebKitGTK one never showed its page.
  std::chrono::milliseconds start_patience{30000};
  std::chrono::milliseconds memory_interval{200};
  bool* lost = nullptr;  ///< set when the browser hung or ended, not when its page reported an error
};

struct BrowserProgress {
  JobProgress job;
  std::int64_t memory_bytes = 0;  ///< PSS of the browser's processes, last sample
  bool slow = false;              ///< no progress for longer than the timeout, though the page lives
};
/// False stops the run: the result is then a cancelled error.
using BrowserProgressCallback = std::function<bool(const BrowserProgress&)>;

struct MemorySampleAt {
  Clock::time_point time;
  std::int64_t bytes = 0;  ///< PSS of the browser's processes
};

/// What a job's page sent, and observations during the run.
struct BrowserOutcome {
  Bytes answer;
  std::vector<MemorySampleAt> memory;
  Clock::time_point run_began;
};

class PageSession {
 public:
  virtual ~PageSession() = default;
  [[nodiscard]] virtual const HostInfo& host() const = 0;
  /// Before a job is described: host() then says which browser runs it, where that may change.
  [[nodiscard]] virtual Status prepare(const BrowserProgressCallback& /*progress*/) { return {}; }
  /// Runs a job to its end. Errors: missing when the browser is absent, crashes or hangs (the message says
  /// which and how it ended); the page's error; cancelled. Blocking; one job at a time.
  [[nodiscard]] virtual Result<BrowserOutcome> run(JobContent content, const BrowserOptions& options,
                                                   const BrowserProgressCallback& progress) = 0;
};

}  // namespace driftscope
