// One model, run by a browser: the job is put on the server's board, the browser started on it,
// traced, and ended; what comes back is a trace. Client: the command line.
//
//   auto server = Server::start({.site = *find_site()});
//   auto trace = run_in_browser(**server, {.target = *parse_target("chrome/strict"), …}, {}, {});
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/runtime/target.hpp"
#include "core/trace/record.hpp"
#include "core/trace/trace.hpp"
#include "native/browser/browsers.hpp"
#include "native/http/job.hpp"
#include "native/http/server.hpp"

namespace driftscope {

/// A file that the model's initializers refer to.
struct JobAttachment {
  std::string location;  ///< as the model names it
  std::shared_ptr<const Bytes> bytes;
};

struct BrowserJob {
  Target target;             ///< host: chrome, firefox or safari
  std::string model_name;    ///< for the page to show, "lenet5"
  std::string model_sha256;  ///< of its bytes: a browser with a cached copy fetches nothing
  std::shared_ptr<const Bytes> model;
  std::vector<JobAttachment> attachments;
  std::shared_ptr<const Bytes> inputs;  ///< safetensors, by input name
  Capture capture = Capture::all;
  std::optional<std::vector<std::string>> values;  ///< as for RecordOptions
  /// Receives captured values as they come, on another thread, and the trace keeps the outputs; without
  /// it they are in the trace.
  TensorSink sink = {};
  int repeat = 1;
  std::chrono::milliseconds settle{0};     ///< instead of repeat, above zero
  bool compare_runs = false;               ///< as for RecordOptions
  std::chrono::milliseconds unwatched{0};  ///< how long the model also runs unwatched
  std::int64_t samples = 0;  ///< above 0: inputs have a leading axis of so many samples (service.hpp)
};

/// Common to all jobs for this target: target, engine, options, environment.
[[nodiscard]] messages::Job job_for(const Target& target, const HostInfo& host);

/// The engine in a browser has 4 GiB of memory, and needs about two and a half times a model: the original
/// bytes, as tensors, and packed for its kernels.
inline constexpr std::size_t max_browser_model_bytes = std::size_t{1536} << 20;

/// A limit error when the model with its attachments is too large for a browser.
[[nodiscard]] Status check_browser_model(const std::string& name, const Bytes& model,
                                         const std::vector<JobAttachment>& attachments,
                                         std::size_t limit = max_browser_model_bytes);

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

/// The trace as made by the page, with `browser` and `browser_version` in `run` and with memory
/// samples of kind "process_tree_pss" (t_ms is negative before the run began). Errors: missing when
/// the browser is absent, crashes or hangs (the message says which and how it ended); the page's
/// error (bad_input, unsupported, …); cancelled.
/// Blocking; may be called from several threads with one server.
[[nodiscard]] Result<Trace> run_in_browser(Server& server, const BrowserJob& job,
                                           const BrowserOptions& options,
                                           const BrowserProgressCallback& progress);

/// The same with a browser that was probed before (or a fake one in tests).
[[nodiscard]] Result<Trace> run_in_browser(Server& server, const HostInfo& host, const BrowserJob& job,
                                           const BrowserOptions& options,
                                           const BrowserProgressCallback& progress);

/// Many runs in one browser, one after the other, each with its own outcome: a case that fails does
/// not end the others. Only the outputs are kept. The error is that of the browser as a whole.
struct BrowserBatch {
  Target target;
  std::string name;  ///< for the page to show
  std::size_t cases = 0;
  std::shared_ptr<const Bytes> packed;  ///< pack_batch
};
[[nodiscard]] Result<std::vector<Result<Trace>>> run_batch_in_browser(
    Server& server, const BrowserBatch& batch, const BrowserOptions& options,
    const BrowserProgressCallback& progress);

}  // namespace driftscope
