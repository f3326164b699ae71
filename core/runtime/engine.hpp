// The interfaces that every engine implements: Engine makes a Session for one graph, the Session runs
// it as start / poll / finish and never blocks for long, so that a GPU or a browser's worker can
// drive it. Clients: session, command line, tests. Nothing here knows how a node is computed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"
#include "core/model/model_source.hpp"
#include "core/platform/platform.hpp"
#include "core/runtime/engine_info.hpp"

namespace driftscope {

/// Yes, or why not: the user sees the reason.
struct Availability {
  bool ok = true;
  std::string reason;
};

/// What actually ran, for the trace.
struct RanWith {
  std::string engine;
  std::string instruction_set;  ///< "AVX-512 (512 bit)", "wasm SIMD128"
  std::string device;           ///< "CPU", the GPU adapter's name
  int threads_asked = 1;
  int threads_real = 1;
  std::map<std::string, std::string> options;
  /// What the API of the device reported while the runtime went on, in sentences.
  std::vector<std::string> device_errors = {};
};

/// Receives every value of a run; with EngineOptions::fuse, only those that the engine actually
/// computes. Calls come from the thread that polls.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  /// Whether this value is wanted, and so must be kept until passed on; engines may skip the rest.
  [[nodiscard]] virtual bool wants(ValueId value) const = 0;
  /// The value as the engine computed it, in ONNX layout. Inputs of the graph come first. A copy of
  /// `tensor` may be kept, also by another thread: its elements do not change afterwards.
  virtual Status value(ValueId value, const Tensor& tensor) = 0;
  /// Wall time of this node; of merged nodes, the last gets the time of all.
  virtual void node_done(NodeId node, std::int64_t time_ns) = 0;
  /// Wall time of several nodes together, where the engine does not know how much each of them took. Their
  /// node_done is not called.
  virtual void unattributed_time(std::int64_t /*time_ns*/) {}
  /// Whether the times of single nodes are looked at. Engines that have them only by working slower ask.
  [[nodiscard]] virtual bool wants_times() const { return false; }
};

/// The progress of a run.
struct Progress {
  std::int64_t done = 0;  ///< nodes finished
  std::int64_t total = 0;
  /// Polling does not help before the host's event loop has run: other code or the browser is working.
  bool waiting = false;
  bool preparing = false;  ///< the engine is not ready yet; no node has begun
  /// While preparing: programs for a GPU that are compiled, of how many; 0 of 0 where that is not known.
  std::int64_t prepared = 0;
  std::int64_t to_prepare = 0;
  [[nodiscard]] bool finished() const { return done >= total; }
};

class Session {
 public:
  virtual ~Session() = default;

  /// Begins one run. `inputs` in the order of graph.inputs, already checked against it (bind_inputs).
  /// `trace_sink` must live until finish. A session can be started again after finish.
  [[nodiscard]] virtual Status start(std::vector<Tensor> inputs, TraceSink& trace_sink) = 0;

  /// Does some of the work: at least one step, then until about `budget_ns` is used up.
  [[nodiscard]] virtual Result<Progress> poll(std::int64_t budget_ns) = 0;

  /// The outputs of the graph; to be called once poll says finished.
  [[nodiscard]] virtual Result<std::vector<Tensor>> finish() = 0;

  [[nodiscard]] virtual RanWith ran_with() const = 0;

  /// Memory of the engine that sample_memory() does not see, such as another runtime's heap.
  [[nodiscard]] virtual std::optional<MemorySample> memory() const { return std::nullopt; }
};

struct EngineOptions {
  int threads = 0;  ///< 0: all usable processors
  /// Whether nodes may be fused or folded, so that their values never exist. Otherwise the engine runs node
  /// by node and has every value. Not an option of a target: it follows from what is captured.
  bool fuse = false;
  /// Whether values beside the graph's outputs may be wanted. Without them an engine that must know before
  /// need not keep them, but still runs node by node if it may not fuse.
  bool inner_values = true;
  /// Whether traced values may be passed as Tensor::deferred, whose source holds what the engine computed.
  /// For a TraceSink with a single reader, which copies them piece by piece while the run continues.
  bool defer_values = false;
  std::map<std::string, std::string> values;       ///< the target's other options, checked by prepare
  std::shared_ptr<const ModelSource> source = {};  ///< never null for an engine that reads_source()
};

class Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual const EngineInfo& info() const = 0;
  [[nodiscard]] const std::string& name() const { return info().name; }
  [[nodiscard]] virtual Availability available() const = 0;
  /// Whether this node can run here; prepare fails with the reason of the first that cannot.
  [[nodiscard]] virtual Availability supports(const Graph& graph, const Node& node) const = 0;
  /// Whether prepare needs the original model in addition to the graph: a runtime with its own reader. Only
  /// such an engine is given graphs with opaque nodes.
  [[nodiscard]] virtual bool reads_source() const { return false; }
  /// Whether prepare reads deferred constants one by one, as it needs them (those needed only in runs
  /// at its end). For other engines all constants are loaded before prepare.
  [[nodiscard]] virtual bool reads_deferred() const { return false; }
  /// `graph` has its shapes bound (bind_shapes). An unknown option, or a value that an option cannot
  /// have, is an error.
  [[nodiscard]] Result<std::unique_ptr<Session>> prepare(std::shared_ptr<const Graph> graph,
                                                         const EngineOptions& options) const;

 protected:
  /// Options and nodes are checked.
  [[nodiscard]] virtual Result<std::unique_ptr<Session>> make_session(std::shared_ptr<const Graph> graph,
                                                                      const EngineOptions& options) const = 0;
};

/// A target's options, checked against what the engine has.
[[nodiscard]] Result<EngineOptions> read_engine_options(const EngineInfo& engine,
                                                        const std::map<std::string, std::string>& options);

/// Runs a session to its end: start, poll until finished, finish.
[[nodiscard]] Result<std::vector<Tensor>> run_to_end(Session& session, std::vector<Tensor> inputs,
                                                     TraceSink& trace_sink);

/// A TraceSink that wants no values.
[[nodiscard]] TraceSink& no_trace_sink();

/// All engines of this build, as lists show them (EngineInfo::order).
[[nodiscard]] const std::vector<std::unique_ptr<Engine>>& engines();

/// By name, or an error that lists the engines of this build.
[[nodiscard]] Result<const Engine*> find_engine(std::string_view name);

/// The default engine: the first of the list.
[[nodiscard]] const Engine& default_engine();

/// The engines of this build in any order; generated from the folders with an engine.cpp, which defines
/// `std::unique_ptr<Engine> make_<folder>_engine()`. Client: engines().
[[nodiscard]] std::vector<std::unique_ptr<Engine>> make_engines();

}  // namespace driftscope
