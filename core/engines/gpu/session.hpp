// Runs a plan on a device: opens it, compiles, and then submits everything between two reads by the host at
// once. Nothing blocks: poll says "waiting" while the device works. Client: the engine.cpp of each GPU
// engine.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engines/gpu/call_log.hpp"
#include "core/engines/gpu/steps.hpp"
#include "core/engines/strict/fallback.hpp"
#include "core/runtime/engine.hpp"
#include "core/runtime/programs.hpp"

namespace driftscope::gpu {

/// What the steps of a plan refer to.
struct Resources {
  Resources(SimdTarget simd, int threads) : fallback(std::move(simd), threads) {}
  strict::StrictFallback fallback;
  std::shared_ptr<Graph> graph;                ///< after passes
  std::map<std::string, std::string> choices;  ///< of kernels for this device: they are options of the trace
};

/// Makes the plan, once the device is there. Nothing while something is being measured for it.
using Planner = std::function<Result<std::optional<Plan>>(Resources& resources, Device& device)>;

class GpuSession final : public Session, public ProgramSource, private Memory {
 public:
  /// `labels`: of the nodes of the graph that was given, for messages. `time_nodes`: even when no sink looks
  /// at inner values, which costs time itself. `patience_ns`: for one submission, and for one program.
  GpuSession(std::unique_ptr<Resources> resources, std::shared_ptr<Device> device, Planner planner,
             std::vector<std::string> labels, RanWith ran, bool time_nodes, std::int64_t patience_ns);
  /// `calls`: the device as well, if the trace is to say what the session did with it.
  void keep_calls(std::shared_ptr<CallLog> calls) { calls_ = std::move(calls); }
  ~GpuSession() override;

  [[nodiscard]] Status start(std::vector<Tensor> inputs, TraceSink& trace_sink) override;
  [[nodiscard]] Result<Progress> poll(std::int64_t budget_ns) override;
  [[nodiscard]] Result<std::vector<Tensor>> finish() override;
  [[nodiscard]] RanWith ran_with() const override { return ran_; }
  [[nodiscard]] std::optional<MemorySample> memory() const override;
  [[nodiscard]] Result<std::optional<NodePrograms>> programs(const Graph& graph, NodeId node) override;

 private:
  enum class State { opening, compiling, ready };

  // What comes back with a submission: into a buffer of the host, or for the trace sink.
  struct Returned {
    const TransferStep* transfer = nullptr;
    ValueId value = no_value;
    BufferId buffer = no_buffer;
    std::int64_t offset = 0;
  };
  // One thing that the session does in a run.
  struct Action {
    enum class Kind { upload, host_step, submission, node_end };
    Kind kind = Kind::node_end;
    std::size_t step = 0;                 // of uploads and host steps
    std::vector<std::size_t> nodes = {};  // of the plan: that have ended then
    std::vector<Returned> returned = {};
    RecordingId recording = no_id;
    bool timed = false;
    bool waits = false;
  };

  [[nodiscard]] Location locate(BufferId buffer) const override;
  [[nodiscard]] Result<Tensor> tensor(BufferId buffer) const override;
  [[nodiscard]] std::int64_t layer_bytes(BufferId buffer) const;
  void put(BufferId buffer, Tensor tensor) override { tensors_[buffer] = std::move(tensor); }

  [[nodiscard]] Result<bool> plan();  // whether the device is there, and with it the plan
  [[nodiscard]] Status prepare();     // once the device is there
  [[nodiscard]] Status make_objects();
  [[nodiscard]] std::vector<bool> wanted() const;
  [[nodiscard]] Status arrange(std::vector<bool> wants, bool timed);
  void drop_actions();
  [[nodiscard]] Status upload(const TransferStep& step);
  [[nodiscard]] Status run_host_step(std::size_t step);
  /// Whether it has been done.
  [[nodiscard]] Result<bool> perform(const Action& action);
  void note_time_step(const Finished& finished);
  [[nodiscard]] Status take_returned(const Action& action);
  void note_calls(const Returned& answer);
  [[nodiscard]] Status end_nodes(const Action& action, const Finished& finished, std::int64_t wall_ns);
  /// `dtype`: of the value, which the device may hold as another type.
  [[nodiscard]] Result<Tensor> returned_tensor(const Action& action, const Returned& it, DType dtype) const;
  [[nodiscard]] std::string_view label(const PlannedNode& node) const;
  [[nodiscard]] Progress progress(bool waiting) const;
  /// An error once preparing has made no progress for too long.
  [[nodiscard]] Status still_prepares();
  /// An error once what began at `since_ns` takes too long.
  [[nodiscard]] Status still_waits(std::int64_t since_ns, std::string_view what);

  std::unique_ptr<Resources> resources_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<CallLog> calls_;  // may be null
  Planner planner_;
  std::vector<std::string> labels_;
  RanWith ran_;
  bool time_nodes_;
  std::int64_t patience_ns_;
  std::int64_t prepared_ns_ = 0;  // when preparing last made progress
  ProgramCounts seen_;
  std::int64_t known_ = 0;  // programs that the device had before
  State state_ = State::opening;
  Plan plan_;
  std::vector<const DeviceStep*> device_steps_;  // by step; null: of the host
  Tensor arena_;
  std::byte* base_ = nullptr;
  std::vector<Tensor> tensors_;      // by buffer
  std::vector<ObjectId> objects_;    // of the plan
  std::vector<ObjectId> constants_;  // by buffer
  std::vector<Action> actions_;
  std::vector<bool> arranged_for_;  // by value, and whether nodes are timed
  std::int64_t time_step_ns_ = 0;   // of all times that the device gave
  bool arranged_ = false;
  TraceSink* trace_sink_ = nullptr;
  std::vector<Tensor> inputs_;
  std::size_t next_ = 0;  // action
  std::size_t nodes_done_ = 0;
  bool submitted_ = false;
  std::int64_t submitted_ns_ = 0;
  std::int64_t host_ns_ = 0;  // of the host steps of the current node
};

}  // namespace driftscope::gpu
