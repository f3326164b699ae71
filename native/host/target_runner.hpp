// Runs a model on one target, wherever it is: on the PC through the session service, in a browser
// through the server and the launcher, or not at all (file/… reads a trace).
// Clients: run, compare.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/bind_inputs.hpp"
#include "core/runtime/target.hpp"
#include "core/trace/record.hpp"
#include "native/browser/browser_session.hpp"
#include "native/host/browser_cases.hpp"
#include "native/host/model_file.hpp"

namespace driftscope {

struct RunRequest {
  const ModelFile* model = nullptr;
  NamedInputs inputs;
  std::int64_t samples = 0;  ///< > 0: inputs have a leading axis of samples, run one by one
  int repeat = 1;
  /// Above zero, instead of repeat: runs go on until their times have settled, or for so long.
  std::chrono::milliseconds settle{0};
  bool compare_runs = false;  ///< as for RecordOptions; with a repeat of at least 2
  /// Above zero: the whole model also runs unwatched for about so long (core/results/run_times.hpp).
  std::chrono::milliseconds unwatched{0};
  Capture capture = Capture::all;
  std::optional<std::vector<std::string>> values = {};  ///< as for RecordOptions
  /// Receives captured values as they are made (from a browser on another thread, while run waits), and
  /// the trace keeps the outputs.
  TensorSink sink = {};
  /// Called repeatedly while it runs; true ends it with a cancelled error.
  std::function<bool()> stopped = {};
};

struct RunnerOptions {
  std::chrono::seconds timeout{60};  ///< without a sign of life from a browser
  /// Without progress from a browser whose page lives; nothing: a multiple of `timeout`.
  std::optional<std::chrono::seconds> stall_timeout = {};
  std::filesystem::path site;  ///< folder of the page; empty: found beside the program
};

/// Called with the current step: "starting the browser", "compiling shaders", "running", and what is done of
/// it: programs, samples or nodes.
using TargetProgress = std::function<void(std::string_view step, std::int64_t done, std::int64_t total)>;

class TargetRunner {
 public:
  explicit TargetRunner(RunnerOptions options);

  /// Browsers are served by one server, started when the first one is needed. That of the last target stays
  /// open for further runs of it.
  [[nodiscard]] Result<Trace> run(const Target& target, const RunRequest& request,
                                  const TargetProgress& progress);

  /// Runs the same once more without tracing (only outputs, fused) and adds to `trace`, the result of
  /// `request`, whether tracing changed the outputs' bits (core/verify/perturbation.hpp).
  [[nodiscard]] Status check_perturbation(const Target& target, const RunRequest& request, Trace& trace,
                                          const TargetProgress& progress);

  /// Many small models, one after the other, each with its own outcome; a browser is started once.
  /// Only outputs are kept; samples and repeats are not supported. The error is that of the target as a
  /// whole.
  [[nodiscard]] Result<std::vector<CaseRun>> run_all(const Target& target,
                                                     std::span<const RunRequest> requests,
                                                     const TargetProgress& progress);

  /// Ends what stays open for further runs.
  void rest();

 private:
  /// The browser of this target, which stays open until another target runs; it is started when it is first
  /// needed.
  [[nodiscard]] Result<BrowserSession*> session_for(const Target& target);
  [[nodiscard]] Result<Trace> run_in_a_browser(const Target& target, const RunRequest& request,
                                               const TargetProgress& progress);

  RunnerOptions options_;
  std::unique_ptr<Server> server_;
  std::string session_of_;  // a target
  std::unique_ptr<BrowserSession> session_;
};

}  // namespace driftscope
