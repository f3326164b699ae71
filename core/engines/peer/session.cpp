#include "core/engines/peer/session.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace driftscope::peer {

PeerSession::PeerSession(std::shared_ptr<const Graph> graph, ModelForm plain, RanWith ran,
                         SessionLimits limits, std::function<Result<ModelForm>()> make_traced)
    : graph_(std::move(graph)),
      ran_(std::move(ran)),
      limits_(std::move(limits)),
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
  plan_groups();
  deadline_ns_ = monotonic_ns() + limits_.timeout_ns;
  state_ = State::started;
  return {};
}

Progress PeerSession::progress() const {
  // Even a graph without nodes has a run to wait for.
  const auto total = std::max<std::int64_t>(static_cast<std::int64_t>(graph_->nodes.size()), 1);
  if (state_ == State::finished) return {total, total};
  return {0, total, false, !current_->ready};
}

Result<Progress> PeerSession::not_yet(std::string_view doing) {
  Progress now = progress();
  now.waiting = !current_->model->wait();
  if (monotonic_ns() < deadline_ns_) return now;
  return limit_error(fmt::format(
      "{} has not finished {} for {} s and was abandoned; the option timeout=SECONDS waits longer",
      limits_.title, doing, limits_.timeout_ns / 1'000'000'000));
}

// The sizes of values that are not known before they are computed count as nothing.
void PeerSession::plan_groups() {
  groups_.assign(1, {});
  group_ = 0;
  std::int64_t bytes = 0;
  for (const ValueId id : current_->captured) {
    if (!trace_sink_->wants(id)) continue;
    const Value& value = graph_->values[id];
    const auto shape = value.static_shape();
    const auto size = shape ? tensor_byte_size(value.dtype, *shape) : Result<std::int64_t>(0);
    const std::int64_t more = size.ok() ? *size : 0;
    if (bytes > 0 && more > limits_.capture_bytes - bytes) {
      groups_.emplace_back();
      bytes = 0;
    }
    groups_.back().push_back(id);
    bytes += std::min(more, limits_.capture_bytes);
  }
  groups_.back().insert(groups_.back().begin(), outputs_.begin(), outputs_.end());
  if (groups_.size() > 1) ran_.options["captured_in"] = fmt::format("{} runs", groups_.size());
}

Status PeerSession::begin_run() {
  std::vector<std::string> names;
  for (const ValueId id : groups_[group_]) names.push_back(graph_->values[id].name);
  if (names.empty()) return unsupported("no output of the model is a tensor of a type known here");
  const bool last = group_ + 1 == groups_.size();
  DRIFTSCOPE_CHECK(current_->model->run(inputs_, names, last && trace_sink_->wants_times()));
  deadline_ns_ = monotonic_ns() + limits_.timeout_ns;
  state_ = State::running;
  return {};
}

Status PeerSession::hand_over_values(RunResult& result) {
  const std::vector<ValueId>& asked = groups_[group_];
  if (result.values.size() != asked.size())
    return internal_error(
        fmt::format("the runtime returned {} values, {} were requested", result.values.size(), asked.size()));
  std::map<ValueId, Tensor> came;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (result.values[i].tensor.dtype() == DType::undefined)
      unheld_.insert(graph_->values[asked[i]].name);
    else
      came.emplace(asked[i], std::move(result.values[i].tensor));
  }
  if (!unheld_.empty())
    ran_.options["not_held"] =
        fmt::format("{} value{}, no tensor{} of a type known here: {}", unheld_.size(),
                    unheld_.size() == 1 ? "" : "s", unheld_.size() == 1 ? "" : "s", *unheld_.begin());
  for (const Node& node : graph_->nodes)
    for (const ValueId id : node.outputs) {
      const auto found = id == no_value ? came.end() : came.find(id);
      if (found != came.end() && trace_sink_->wants(id))
        DRIFTSCOPE_CHECK(trace_sink_->value(id, found->second));
    }
  if (group_ + 1 == groups_.size()) results_ = std::move(came);
  return {};
}

void PeerSession::hand_over_times(const RunResult& result) {
  if (result.times.empty()) {
    trace_sink_->unattributed_time(result.time_ns);
    return;
  }
  ran_.options["node_times"] = "by the runtime's own profiler";
  std::map<std::string_view, std::int64_t> times;
  for (const auto& [name, time_ns] : result.times) times[name] += time_ns;
  for (NodeId node = 0; node < graph_->nodes.size(); ++node) {
    std::int64_t time_ns = 0;
    bool known = false;
    for (const ValueId id : graph_->nodes[node].outputs) {
      const auto found = id == no_value ? times.end() : times.find(graph_->values[id].name);
      if (found == times.end()) continue;
      known = true;
      time_ns += found->second;
    }
    if (known) trace_sink_->node_done(node, time_ns);
  }
}

Status PeerSession::hand_over(RunResult result) {
  DRIFTSCOPE_CHECK(hand_over_values(result));
  if (++group_ < groups_.size()) {
    state_ = State::started;
    return {};
  }
  hand_over_times(result);
  inputs_.clear();
  state_ = State::finished;
  return {};
}

Result<Progress> PeerSession::poll(std::int64_t /*budget_ns*/) {
  if (state_ == State::idle) return internal_error("poll before start");
  if (!current_->ready) {
    DRIFTSCOPE_TRY(current_->ready, current_->model->ready());
    if (!current_->ready) return not_yet("loading the model");
  }
  if (state_ == State::started) DRIFTSCOPE_CHECK(begin_run());
  if (state_ == State::running) {
    DRIFTSCOPE_TRY(auto result, current_->model->result());
    if (!result) return not_yet("a run");
    DRIFTSCOPE_CHECK(hand_over(*std::move(result)));
  }
  return progress();
}

Result<std::vector<Tensor>> PeerSession::finish() {
  if (state_ != State::finished) return internal_error("finish before the run was finished");
  std::vector<Tensor> outputs;
  for (const ValueId id : graph_->outputs) {
    const auto found = results_.find(id);
    outputs.push_back(found == results_.end() ? Tensor() : found->second);
  }
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
