// Runs a prepared session and records it as a trace. Clients: the session service, the command line.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/engine.hpp"
#include "core/trace/settling.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

/// What a run captures. `all`: every value, node by node. `fused`: the values that the engine has when it may
/// fuse, fold and skip. `outputs`: the graph's outputs alone, likewise. The graph's inputs always are.
enum class Capture { all, fused, outputs };

/// As "capture" of the service and the command line: "all", "fused", "outputs".
[[nodiscard]] std::string_view capture_name(Capture capture);
[[nodiscard]] std::optional<Capture> capture_from(std::string_view name);

/// Receives each value as it is computed, with its name.
using TensorSink = std::function<Status(const std::string& name, const Tensor& tensor)>;

struct RecordOptions {
  Capture capture = Capture::all;
  /// Of the values that `capture` would keep, only these, in addition to the graph's inputs and outputs.
  std::optional<std::vector<std::string>> values = {};
  int repeat = 1;  ///< runs; values are captured in the first, times in all
  /// If its budget is above zero, runs go on until their times have settled; then `repeat` is not used.
  SettlingLimits settling = {};
  /// Whether the values of all runs are compared with those of the first, bit for bit (repeat_check.hpp).
  bool compare_runs = false;
  /// Whether the trace has times: of runs, and of nodes unless only outputs are captured, also where
  /// measuring these slows an engine down.
  bool times = true;
  /// Receives captured values instead of the trace, which then holds only the graph's outputs: a
  /// large run need not be entirely in memory.
  TensorSink sink = {};
};

/// Step by step, so that a worker can report progress between slices: construct, poll until finished,
/// take. The session must outlive it.
class Recording {
 public:
  Recording(std::shared_ptr<const Graph> graph, Session& session, std::vector<Tensor> inputs,
            RecordOptions options);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Progress over all repetitions, in nodes.
  [[nodiscard]] Result<Progress> poll(std::int64_t budget_ns);
  /// The trace: tensors, node times, memory samples, and `run` filled from the session's RanWith plus
  /// platform and start time. model_sha256, target and the host's part of `run` are the caller's.
  [[nodiscard]] Result<Trace> take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What a session reports about itself and this platform, as the `run` of a trace (JSON text).
[[nodiscard]] std::string describe_run(const Session& session, double start_seconds);

/// The whole recording at once.
[[nodiscard]] Result<Trace> record(std::shared_ptr<const Graph> graph, Session& session,
                                   std::vector<Tensor> inputs, RecordOptions options);

}  // namespace driftscope
