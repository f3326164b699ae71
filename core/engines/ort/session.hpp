// A run of one model by ONNX Runtime, told to the observer once it is over: ONNX Runtime hands over
// values only at the end of a run. Client: engines/ort/engine.cpp.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "core/engines/ort/backend.hpp"
#include "core/engines/ort/options.hpp"

namespace driftscope::ort {

class RuntimeSession final : public Session {
 public:
  /// `captured`: names of the values that are outputs of `model` besides the graph's own.
  RuntimeSession(std::shared_ptr<const Graph> graph, std::unique_ptr<RuntimeModel> model,
             const std::vector<std::string>& captured, RanWith ran);

  [[nodiscard]] Status start(std::vector<Tensor> inputs, Observer& observer) override;
  [[nodiscard]] Result<Progress> poll(std::int64_t budget_ns) override;
  [[nodiscard]] Result<std::vector<Tensor>> finish() override;
  [[nodiscard]] RanWith ran_with() const override;
  [[nodiscard]] std::optional<MemorySample> memory() const override { return model_->memory(); }

 private:
  enum class State { idle, started, running, finished };

  [[nodiscard]] Progress progress() const;
  [[nodiscard]] Status begin_run();
  [[nodiscard]] Status hand_over(RunResult result);

  std::shared_ptr<const Graph> graph_;
  std::unique_ptr<RuntimeModel> model_;
  std::vector<ValueId> outputs_;   // of the graph, each once
  std::vector<ValueId> captured_;  // in the order of the nodes
  RanWith ran_;
  State state_ = State::idle;
  bool ready_ = false;
  Observer* observer_ = nullptr;
  std::vector<NamedTensor> inputs_;
  std::vector<ValueId> asked_;  // of the run that goes on
  std::map<ValueId, Tensor> results_;
};

}  // namespace driftscope::ort
