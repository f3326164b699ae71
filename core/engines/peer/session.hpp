// A run of one model by a third-party runtime, reported to the trace sink once it is over: such runtimes
// return values only at the end of a run. Client: peer_engine.cpp.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "core/engines/peer/runtime.hpp"

namespace driftscope::peer {

/// One variant of the model.
struct ModelForm {
  std::unique_ptr<RuntimeModel> model;
  std::vector<std::string> captured;         ///< values that are its outputs besides the graph's own
  std::map<std::string, std::string> facts;  ///< of it, for RanWith::options
};

class PeerSession final : public Session {
 public:
  /// `make_traced`: a variant with inner values, made once a trace sink wants some; untraced
  /// runs use `plain`. Without it all runs use `plain`.
  PeerSession(std::shared_ptr<const Graph> graph, ModelForm plain, RanWith ran,
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
  };

  [[nodiscard]] Form adopt(ModelForm form);
  [[nodiscard]] bool wants_inner(const TraceSink& trace_sink) const;
  [[nodiscard]] Progress progress() const;
  [[nodiscard]] Status begin_run();
  [[nodiscard]] Status hand_over(RunResult result);

  std::shared_ptr<const Graph> graph_;
  RanWith ran_;
  Form plain_;
  std::optional<Form> traced_;
  std::function<Result<ModelForm>()> make_traced_;
  std::vector<ValueId> outputs_;  // of the graph, each once
  State state_ = State::idle;
  Form* current_ = &plain_;
  TraceSink* trace_sink_ = nullptr;
  std::vector<NamedTensor> inputs_;
  std::vector<ValueId> asked_;  // of the current run
  std::map<ValueId, Tensor> results_;
};

}  // namespace driftscope::peer
