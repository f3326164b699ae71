// One model, run by a browser: what comes back is a trace, or the shaders of a node. Client: native/host.
//
//   auto server = Server::start({.site = *find_site()});
//   BrowserSession session(**server, *probe_target_host(target));
//   auto trace = run_in_browser(session, {.target = target, …}, {}, {});
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/runtime/programs.hpp"
#include "core/runtime/target.hpp"
#include "core/trace/record.hpp"
#include "core/trace/trace.hpp"
#include "native/browser/browser_session.hpp"

namespace driftscope {

/// A file that the model's initializers refer to.
struct JobAttachment {
  std::string location;  ///< as the model names it
  SharedBytes bytes;
};

struct BrowserJob {
  Target target;             ///< host: chrome, firefox or safari
  std::string model_name;    ///< for the page to show, "lenet5"
  std::string model_sha256;  ///< of its bytes: a browser with a cached copy fetches nothing
  SharedBytes model;
  std::vector<JobAttachment> attachments;
  SharedBytes inputs;  ///< safetensors, by input name
  messages::RunPlan plan = {};
  /// Receives captured values as they come, on another thread, and the trace keeps the outputs; without
  /// it they are in the trace.
  TensorSink sink = {};
};

/// Common to all jobs for this target: target, engine, options, environment.
[[nodiscard]] messages::Job job_for(const Target& target, const HostInfo& host);

/// A limit error when the model with its attachments is too large for a browser.
[[nodiscard]] Status check_browser_model(const std::string& name, const SharedBytes& model,
                                         const std::vector<JobAttachment>& attachments,
                                         std::size_t limit = max_browser_model_bytes);

/// The trace as made by the page, with `browser` and `browser_version` in `run` and with memory
/// samples of kind "process_tree_pss" (t_ms is negative before the run began). Errors: missing when
/// the browser is absent, crashes or hangs (the message says which and how it ended); the page's
/// error (bad_input, unsupported, …); cancelled.
/// Blocking.
[[nodiscard]] Result<Trace> run_in_browser(PageSession& session, const BrowserJob& job,
                                           const BrowserOptions& options,
                                           const BrowserProgressCallback& progress);

/// The same in a browser of its own, which is ended. May be called from several threads with one server.
[[nodiscard]] Result<Trace> run_in_browser(Server& server, const HostInfo& host, const BrowserJob& job,
                                           const BrowserOptions& options,
                                           const BrowserProgressCallback& progress);

/// What the engine in the browser makes for a node of the model's graph; nothing runs. Errors as of
/// run_in_browser. Blocking.
[[nodiscard]] Result<NodePrograms> programs_in_browser(PageSession& session, const BrowserJob& job,
                                                       NodeId node, const BrowserOptions& options,
                                                       const BrowserProgressCallback& progress);

/// Many runs in one browser, one after the other, each with its own outcome: a case that fails does
/// not end the others. Only the outputs are kept. The error is that of the browser as a whole.
struct BrowserBatch {
  Target target;
  std::string name;  ///< for the page to show
  std::size_t cases = 0;
  SharedBytes packed;  ///< pack_batch
};
[[nodiscard]] Result<std::vector<Result<Trace>>> run_batch_in_browser(
    PageSession& session, const BrowserBatch& batch, const BrowserOptions& options,
    const BrowserProgressCallback& progress);

}  // namespace driftscope
