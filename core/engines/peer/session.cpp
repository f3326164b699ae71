#include "core/engines/peer/session.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace driftscope::peer {

PeerSession::PeerSession(std::shared_ptr<const Graph> graph, ModelForm plain, RanWith ran,
                         std::function<Result<ModelForm>()> make_traced)
    : graph_(std::move(graph)),
      ran_(std::move(ran)),
      plain_(adopt(std::move(plain))),
      make_traced_(std::move(make_traced)) {
  for (const ValueId id : graph_->outputs)
    if (std::find(outputs_.begin(), outputs_.end(), id) == outputs_.end()) outputs_.push_back(id);
}

PeerSession::Form PeerSession::adopt(ModelForm form) {
  std::map<std::string_view, ValueId> by_name;
  for (ValueId id = 0; id < graph_->values.size(); ++id) by_name[graph_->values[id].name] = id;
  Form adopted{std::move(form.model), {}, false};
  for (const std::string& name : form.captured) adopted.captured.push_back(by_name.at(name));
  ran_.options.merge(form.facts);
  return adopted;
}

bool PeerSession::wants_inner(const TraceSink& trace_sink) const {
  for (const Node& node : graph_->nodes)
    for (const ValueId id : node.outputs)
      if (id != no_value && trace_sink.wants(id) &&
          std::find(outputs_.begin(), outputs_.end(), id) == outputs_.end())
        return true;
  return false;
}

Status PeerSession::start(std::vector<Tensor> inputs, TraceSink& trace_sink) {
  if (inputs.size() != graph_->inputs.size())
    return internal_error(fmt::format("the run was started with {} inputs, the graph has {}", inputs.size(),
                                      graph_->inputs.size()));
  const bool inner = make_traced_ && wants_inner(trace_sink);
  if (inner && !traced_) {
    DRIFTSCOPE_TRY(ModelForm made, make_traced_());
    traced_ = adopt(std::move(made));
  }
  current_ = inner ? &*traced_ : &plain_;
  trace_sink_ = &trace_sink;
  inputs_.clear();
  results_.clear();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ValueId id = graph_->inputs[i];
    if (trace_sink.wants(id)) DRIFTSCOPE_CHECK(trace_sink.value(id, inputs[i]));
    inputs_.push_back({graph_->values[id].name, std::move(inputs[i])});
  }
  state_ = State::started;
  return {};
}

Progress PeerSession::progress() const {
  // Even a graph without nodes has a run to wait for.
  const auto total = std::max<std::int64_t>(static_cast<std::int64_t>(graph_->nodes.size()), 1);
  if (state_ == State::finished) return {total, total};
  return {0, total, true, !current_->ready};
}

Status PeerSession::begin_run() {
  asked_ = outputs_;
  for (const ValueId id : current_->captured)
    if (trace_sink_->wants(id)) asked_.push_back(id);
  std::vector<std::string> names;
  for (const ValueId id : asked_) names.push_back(graph_->values[id].name);
  DRIFTSCOPE_CHECK(current_->model->run(inputs_, names));
  state_ = State::running;
  return {};
}

Status PeerSession::hand_over(RunResult result) {
  if (result.values.size() != asked_.size())
    return internal_error(
        fmt::format("the runtime gave {} values, asked were {}", result.values.size(), asked_.size()));
  for (std::size_t i = 0; i < asked_.size(); ++i)
    results_.emplace(asked_[i], std::move(result.values[i].tensor));
  for (const Node& node : graph_->nodes)
    for (const ValueId id : node.outputs) {
      const auto found = id == no_value ? results_.end() : results_.find(id);
      if (found != results_.end() && trace_sink_->wants(id))
        DRIFTSCOPE_CHECK(trace_sink_->value(id, found->second));
    }
  if (!graph_->nodes.empty())
    trace_sink_->node_done(static_cast<NodeId>(graph_->nodes.size() - 1), result.time_ns);
  inputs_.clear();
  state_ = State::finished;
  return {};
}

Result<Progress> PeerSession::poll(std::int64_t /*budget_ns*/) {
  if (state_ == State::idle) return internal_error("poll before start");
  if (!current_->ready) {
    DRIFTSCOPE_TRY(current_->ready, current_->model->ready());
    if (!current_->ready) return progress();
  }
  if (state_ == State::started) DRIFTSCOPE_CHECK(begin_run());
  if (state_ == State::running) {
    DRIFTSCOPE_TRY(auto result, current_->model->result());
    if (result) DRIFTSCOPE_CHECK(hand_over(*std::move(result)));
  }
  return progress();
}

Result<std::vector<Tensor>> PeerSession::finish() {
  if (state_ != State::finished) return internal_error("finish before the run was finished");
  std::vector<Tensor> outputs;
  for (const ValueId id : graph_->outputs) outputs.push_back(results_.at(id));
  results_.clear();
  state_ = State::idle;
  trace_sink_ = nullptr;
  return outputs;
}

RanWith PeerSession::ran_with() const {
  RanWith ran = ran_;
  if (current_->ready) current_->model->describe(ran);
  return ran;
}

}  // namespace driftscope::peer
