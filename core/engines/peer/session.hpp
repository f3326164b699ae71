// A run of one model by a third-party runtime, reported to the trace sink once it is over: such runtimes
// return values only at the end of a run. Client: peer_engine.cpp.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/engines/peer/runtime.hpp"
#include "core/eval/subgraph_watch.hpp"
#include "core/model/inside_outputs.hpp"

namespace driftscope::peer {

/// One variant of the model.
struct ModelForm {
  std::unique_ptr<RuntimeModel> model;
  std::vector<std::string> captured;         ///< values that are outputs in addition to the graph's own
  std::map<std::string, std::string> facts;  ///< of it, for RanWith::options
  std::vector<InsideOutputs> inside = {};    ///< outputs that are values inside subgraphs
};

struct SessionLimits {
  std::string title = "the runtime";                   ///< "ONNX Runtime 1.30.0", for messages
  std::int64_t timeout_ns = 300'000'000'000;           ///< for loading a model, and for a run
  std::int64_t capture_bytes = std::int64_t{1} << 60;  ///< of inner values that one run returns
};

class PeerSession final : public Session {
 public:
  /// `make_traced`: a variant with inner values, made once a trace sink wants some; untraced
  /// runs use `plain`. Without it all runs use `plain`.
  PeerSession(std::shared_ptr<const Graph> graph, ModelForm plain, RanWith ran, SessionLimits limits = {},
              std::function<Result<ModelForm>()> make_traced = {});

  [[nodiscard]] Status start(std::vector<Tensor> inputs, TraceSink& trace_sink) override;
  [[nodiscard]] Result<Progress> poll(std::int64_t budget_ns) override;
  [[nodiscard]] Result<std::vector<Tensor>> finish() override;
  [[nodiscard]] RanWith ran_with() const override;
  [[nodiscard]] std::optional<MemorySample> memory() const override { return plain_.model->memory(); }

 private:
  enum class State { idle, started, running, finished };
  struct Form {
    std::unique_ptr<RuntimeModel> model;
    std::vector<ValueId> captured;  // in the order of the nodes
    bool ready = false;
    std::vector<InsideOutputs> inside = {};
  };
  using NamedTensors = std::map<std::string, Tensor, std::less<>>;

  [[nodiscard]] Form adopt(ModelForm form);
  [[nodiscard]] bool wants_inner(const TraceSink& trace_sink) const;
  [[nodiscard]] Progress progress() const;
  [[nodiscard]] Result<Progress> not_yet(std::string_view doing);
  [[nodiscard]] std::int64_t known_bytes(ValueId id) const;
  [[nodiscard]] bool have_room_elsewhere();
  void plan_groups();
  [[nodiscard]] Status begin_run();
  [[nodiscard]] Status hand_over(RunResult result);
  [[nodiscard]] Status hand_over_values(RunResult& result);
  void hand_over_times(const RunResult& result);
  /// Shows a run of the subgraphs of these nodes as if they ran now.
  [[nodiscard]] Status show_inside(SubgraphWatch& watch, const Graph& graph, const Node& node,
                                   std::span<const InsideOutputs> nodes, const NamedTensors& came);
  [[nodiscard]] Status show_branch(SubgraphWatch& watch, const Node& node, const InsideOutputs& one,
                                   std::int64_t marker, const NamedTensors& came);
  [[nodiscard]] Status show_loop(SubgraphWatch& watch, const Node& node, const InsideOutputs& one,
                                 std::int64_t iterations, const NamedTensors& came);

  std::shared_ptr<const Graph> graph_;
  RanWith ran_;
  SessionLimits limits_;
  Form plain_;
  std::optional<Form> traced_;
  std::function<Result<ModelForm>()> make_traced_;
  std::vector<ValueId> outputs_;  // of the graph, each once
  State state_ = State::idle;
  Form* current_ = &plain_;
  TraceSink* trace_sink_ = nullptr;
  std::vector<NamedTensor> inputs_;
  // What is asked for, run after run: captured values up to the limit; the graph's outputs with the last.
  std::vector<std::vector<ValueId>> groups_;
  std::vector<std::string> inside_;  // outputs of subgraphs, with the last
  std::size_t group_ = 0;
  std::int64_t deadline_ns_ = 0;
  std::map<ValueId, Tensor> results_;  // the graph's outputs
  std::set<std::string> unheld_;       // names of values that no tensor here can hold
};

}  // namespace driftscope::peer
