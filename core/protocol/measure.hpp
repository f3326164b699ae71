// The service's measuring: runs one prepared session again and again with nothing between two runs but the
// reading of a clock. It can also tell what the session made for a node, and run nothing. Client: service.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "core/base/result.hpp"
#include "core/protocol/load.hpp"
#include "core/protocol/run.hpp"
#include "core/runtime/programs.hpp"
#include "generated/protocol/messages.hpp"

namespace driftscope {

/// Receives the recording of traced runs, one after another. If files can be written it writes one, so that a
/// measured run costs what `run --trace` costs.
class RunRecorder {
 public:
  virtual ~RunRecorder() = default;
  virtual Status begin(const Graph& graph) = 0;
  virtual Status add(const std::string& name, const Tensor& tensor) = 0;
  virtual Status finish(const Trace& about) = 0;
  /// Removes the last run's file. Called between readings, so that none includes this time.
  virtual Status discard() = 0;
};

/// One slice: readings of `inner` runs each until `slice_ns` has passed, at least one.
struct MeasureRequest {
  std::int64_t slice_ns = 0;
  std::int64_t inner = 1;
  std::int64_t max_runs = 0;  ///< 0: as many as fit
};

class Measurement {
 public:
  /// Binds the inputs and prepares the engine; runs nothing. `start` as for a run, without samples.
  /// Without a recorder (null) the trace of a traced run is written into memory. It must outlive this.
  [[nodiscard]] static Result<std::unique_ptr<Measurement>> prepare(LoadedModel& model, StartRequest start,
                                                                    RunRecorder* recorder);
  ~Measurement();
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  /// What runs with which settings, and the step of the clock: the response to "prepare" and "describe".
  /// Some engines know only after the first run.
  [[nodiscard]] messages::Prepared describe() const;

  /// Begins a slice, or continues the current one (the request is then ignored), for about
  /// `budget_ns`. If it is not `finished`, call again.
  [[nodiscard]] Result<messages::MeasureResponse> measure(const MeasureRequest& request,
                                                          std::int64_t budget_ns);

  /// What the engine made for this node of the graph, before anything ran. Nothing: let the event loop run
  /// and ask again. Errors: bad_input where there is no such node, unsupported for an engine without shaders.
  [[nodiscard]] Result<std::optional<NodePrograms>> programs(std::int64_t node);

 private:
  struct State;
  explicit Measurement(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace driftscope
