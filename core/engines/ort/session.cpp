#include "core/engines/ort/session.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace driftscope::ort {

RuntimeSession::RuntimeSession(std::shared_ptr<const Graph> graph, std::unique_ptr<RuntimeModel> model,
                       const std::vector<std::string>& captured, RanWith ran)
    : graph_(std::move(graph)), model_(std::move(model)), ran_(std::move(ran)) {
  for (const ValueId id : graph_->outputs)
    if (std::find(outputs_.begin(), outputs_.end(), id) == outputs_.end()) outputs_.push_back(id);
  std::map<std::string_view, ValueId> by_name;
  for (ValueId id = 0; id < graph_->values.size(); ++id) by_name[graph_->values[id].name] = id;
  for (const std::string& name : captured) captured_.push_back(by_name.at(name));
}

Status RuntimeSession::start(std::vector<Tensor> inputs, Observer& observer) {
  if (inputs.size() != graph_->inputs.size())
    return internal_error(fmt::format("the run was started with {} inputs, the graph has {}",
                                      inputs.size(), graph_->inputs.size()));
  observer_ = &observer;
  inputs_.clear();
  results_.clear();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ValueId id = graph_->inputs[i];
    if (observer.wants(id)) DRIFTSCOPE_CHECK(observer.value(id, inputs[i]));
    inputs_.push_back({graph_->values[id].name, std::move(inputs[i])});
  }
  state_ = State::started;
  return {};
}

Progress RuntimeSession::progress() const {
  // A graph without nodes has a run to wait for as well.
  const auto total = std::max<std::int64_t>(static_cast<std::int64_t>(graph_->nodes.size()), 1);
  if (state_ == State::finished) return {total, total};
  return {0, total, true, !ready_};
}

Status RuntimeSession::begin_run() {
  asked_ = outputs_;
  for (const ValueId id : captured_)
    if (observer_->wants(id)) asked_.push_back(id);
  std::vector<std::string> names;
  for (const ValueId id : asked_) names.push_back(graph_->values[id].name);
  DRIFTSCOPE_CHECK(model_->run(inputs_, names));
  state_ = State::running;
  return {};
}

Status RuntimeSession::hand_over(RunResult result) {
  if (result.values.size() != asked_.size())
    return internal_error(fmt::format("ONNX Runtime gave {} values, asked were {}",
                                      result.values.size(), asked_.size()));
  for (std::size_t i = 0; i < asked_.size(); ++i)
    results_.emplace(asked_[i], std::move(result.values[i].tensor));
  for (const Node& node : graph_->nodes)
    for (const ValueId id : node.outputs) {
      const auto found = id == no_value ? results_.end() : results_.find(id);
      if (found != results_.end() && observer_->wants(id))
        DRIFTSCOPE_CHECK(observer_->value(id, found->second));
    }
  if (!graph_->nodes.empty())
    observer_->node_done(static_cast<NodeId>(graph_->nodes.size() - 1), result.time_ns);
  inputs_.clear();
  state_ = State::finished;
  return {};
}

Result<Progress> RuntimeSession::poll(std::int64_t /*budget_ns*/) {
  if (state_ == State::idle) return internal_error("poll before start");
  if (!ready_) {
    DRIFTSCOPE_TRY(ready_, model_->ready());
    if (!ready_) return progress();
  }
  if (state_ == State::started) DRIFTSCOPE_CHECK(begin_run());
  if (state_ == State::running) {
    DRIFTSCOPE_TRY(auto result, model_->result());
    if (result) DRIFTSCOPE_CHECK(hand_over(*std::move(result)));
  }
  return progress();
}

Result<std::vector<Tensor>> RuntimeSession::finish() {
  if (state_ != State::finished) return internal_error("finish before the run was finished");
  std::vector<Tensor> outputs;
  for (const ValueId id : graph_->outputs) outputs.push_back(results_.at(id));
  results_.clear();
  state_ = State::idle;
  observer_ = nullptr;
  return outputs;
}

RanWith RuntimeSession::ran_with() const {
  RanWith ran = ran_;
  if (ready_) model_->describe(ran);
  return ran;
}

}  // namespace driftscope::ort
