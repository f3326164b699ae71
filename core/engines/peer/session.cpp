// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/peer/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/graph/control_flow.hpp"

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
  Form adopted{std::move(form.model), {}, false, std::move(form.inside)};
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
std::int64_t PeerSession::known_bytes(ValueId id) const {
  const Value& value = graph_->values[id];
  const auto shape = value.static_shape();
  const auto size = shape ? tensor_byte_size(value.dtype, *shape) : Result<std::int64_t>(0);
  return size.ok() ? *size : 0;
}

// Whether all captured values are too many for memory, and there is room for them elsewhere.
bool PeerSession::have_room_elsewhere() {
  std::int64_t bytes = 0;
  std::vector<ExpectedValue> values;
  for (const ValueId id : current_->captured) {
    const std::int64_t size = known_bytes(id);
    if (size == 0) continue;
    const Value& value = graph_->values[id];
    bytes = size > limits_.capture_bytes - bytes ? limits_.capture_bytes : bytes + size;
    values.push_back({value.name, value.dtype, *value.static_shape()});
  }
  return bytes == limits_.capture_bytes && current_->model->reserve(values);
}

// A runtime may hold every value until a run is over, also where nobody wants it: then it is asked for all
// the same if that keeps it out of memory.
void PeerSession::plan_groups() {
  const bool at_once = have_room_elsewhere();
  std::vector<ValueId> wanted;
  for (const ValueId id : current_->captured)
    if (at_once || trace_sink_->wants(id)) wanted.push_back(id);
  groups_.assign(1, {});
  group_ = 0;
  std::int64_t bytes = 0;
  for (const ValueId id : wanted) {
    const std::int64_t more = known_bytes(id);
    if (!at_once && bytes > 0 && more > limits_.capture_bytes - bytes) {
      groups_.emplace_back();
      bytes = 0;
    }
    groups_.back().push_back(id);
    bytes += std::min(more, limits_.capture_bytes - std::min(bytes, limits_.capture_bytes));
  }
  inside_.clear();
  if (SubgraphWatch* watch = subgraph_watch(); watch != nullptr && watch->wants_values())
    inside_ = names_of(current_->inside);
  groups_.back().insert(groups_.back().begin(), outputs_.begin(), outputs_.end());
  if (groups_.size() > 1) ran_.options["captured_in"] = fmt::format("{} runs", groups_.size());
}

Status PeerSession::begin_run() {
  std::vector<std::string> names;
  for (const ValueId id : groups_[group_]) names.push_back(graph_->values[id].name);
  if (names.empty()) return unsupported("no output of the model is a tensor of a type known here");
  const bool last = group_ + 1 == groups_.size();
  if (last) names.insert(names.end(), inside_.begin(), inside_.end());
  DRIFTSCOPE_CHECK(current_->model->run(inputs_, names, last && trace_sink_->wants_times()));
  deadline_ns_ = monotonic_ns() + limits_.timeout_ns;
  state_ = State::running;
  return {};
}

Status PeerSession::hand_over_values(RunResult& result) {
  const std::vector<ValueId>& asked = groups_[group_];
  const bool last = group_ + 1 == groups_.size();
  const std::size_t requested = asked.size() + (last ? inside_.size() : 0);
  if (result.values.size() != requested)
    return internal_error(
        fmt::format("the runtime returned {} values, {} were requested", result.values.size(), requested));
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
  if (!last) return {};
  results_ = std::move(came);
  SubgraphWatch* const watch = subgraph_watch();
  if (inside_.empty() || watch == nullptr) return {};
  NamedTensors inside;
  for (std::size_t i = 0; i < inside_.size(); ++i)
    if (Tensor& tensor = result.values[asked.size() + i].tensor; tensor.dtype() != DType::undefined)
      inside.emplace(inside_[i], std::move(tensor));
  for (const Node& node : graph_->nodes)
    DRIFTSCOPE_CHECK(show_inside(*watch, *graph_, node, current_->inside, inside));
  return {};
}

Status PeerSession::show_inside(SubgraphWatch& watch, const Graph& graph, const Node& node,
                                std::span<const InsideOutputs> nodes, const NamedTensors& came) {
  if (node.subgraphs.empty()) return {};
  const auto one = std::ranges::find_if(nodes, [&](const InsideOutputs& candidate) {
    return std::ranges::any_of(
        node.outputs, [&](ValueId id) { return id != no_value && graph.values[id].name == candidate.made; });
  });
  if (one == nodes.end()) return {};
  const auto marker = came.find(one->marker);
  if (marker == came.end() || marker->second.dtype() != DType::int64) return {};
  if (node.op_type != "If") return show_loop(watch, node, *one, marker->second.elements(), came);
  if (marker->second.elements() != 1) return {};  // the branch around it did not run
  return show_branch(watch, node, *one, marker->second.values<std::int64_t>()[0], came);
}

namespace {

// What came of a subgraph, by its values.
std::map<ValueId, const Tensor*> values_inside(const Graph& graph, const SubgraphOutputs& outputs,
                                               const std::map<std::string, Tensor, std::less<>>& came) {
  std::map<std::string_view, ValueId> ids;
  for (ValueId id = 0; id < graph.values.size(); ++id) ids[graph.values[id].name] = id;
  std::map<ValueId, const Tensor*> values;
  for (const InsideValue& value : outputs.outputs)
    if (const auto found = came.find(value.output); found != came.end())
      if (const auto id = ids.find(value.value); id != ids.end()) values[id->second] = &found->second;
  return values;
}

// Element `at` of the first axis.
Result<Tensor> element_of(const Tensor& stacked, std::int64_t at) {
  Shape shape(stacked.shape().begin() + 1, stacked.shape().end());
  const auto size = stacked.byte_size() / static_cast<std::size_t>(stacked.shape().front());
  return Tensor::from_bytes(stacked.dtype(), std::move(shape),
                            stacked.bytes().subspan(static_cast<std::size_t>(at) * size, size));
}

}  // namespace

Status PeerSession::show_branch(SubgraphWatch& watch, const Node& node, const InsideOutputs& one,
                                std::int64_t marker, const NamedTensors& came) {
  const std::string_view taken = marker != 0 ? "then_branch" : "else_branch";
  const auto outputs = std::ranges::find(one.subgraphs, taken, &SubgraphOutputs::attribute);
  const auto subgraph = std::ranges::find(node.subgraphs, taken, &Subgraph::attribute);
  if (outputs == one.subgraphs.end() || subgraph == node.subgraphs.end()) return {};
  const Graph& graph = *subgraph->graph;
  const auto values = values_inside(graph, *outputs, came);
  const auto show = [&](NodeId id) -> Status {
    DRIFTSCOPE_CHECK(show_inside(watch, graph, graph.nodes[id], outputs->inside, came));
    for (const ValueId value : graph.nodes[id].outputs)
      if (const auto found = values.find(value); found != values.end() && watch.wants(graph, value))
        DRIFTSCOPE_CHECK(watch.value(graph, value, *found->second));
    watch.node_done(graph, id, std::nullopt);
    return {};
  };
  watch.enter(node, *subgraph, 0);
  Status status;
  for (NodeId id = 0; id < graph.nodes.size() && status.ok(); ++id) status = show(id);
  watch.leave();
  watch.finished(node, 1);
  return status;
}

Status PeerSession::show_loop(SubgraphWatch& watch, const Node& node, const InsideOutputs& one,
                              std::int64_t iterations, const NamedTensors& came) {
  if (one.subgraphs.size() != 1 || node.subgraphs.size() != 1) return {};
  const Subgraph& body = node.subgraphs.front();
  const Graph& graph = *body.graph;
  auto values = values_inside(graph, one.subgraphs.front(), came);
  std::erase_if(values, [&](const auto& entry) {
    const Tensor& tensor = *entry.second;
    return tensor.shape().empty() || tensor.shape().front() != iterations ||
           bits_per_element(tensor.dtype()) < 8;
  });
  const auto show = [&](ValueId value, ValueId from, std::int64_t iteration) -> Status {
    const auto found = values.find(from);
    if (found == values.end() || iteration < 0 || !watch.wants(graph, value)) return {};
    DRIFTSCOPE_TRY(const Tensor tensor, element_of(*found->second, iteration));
    return watch.value(graph, value, tensor);
  };
  const std::size_t own = own_body_inputs(node);
  const std::size_t first_output = node.op_type == "Loop" ? 1 : 0;
  const auto show_iteration = [&](std::int64_t iteration) -> Status {
    for (std::size_t i = 0; i < carried_values(node); ++i)
      DRIFTSCOPE_CHECK(show(graph.inputs[own + i], graph.outputs[first_output + i], iteration - 1));
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
      for (const ValueId value : graph.nodes[id].outputs)
        if (value != no_value) DRIFTSCOPE_CHECK(show(value, value, iteration));
      watch.node_done(graph, id, std::nullopt);
    }
    return {};
  };
  if (graph.inputs.size() < own + carried_values(node) ||
      graph.outputs.size() < first_output + carried_values(node))
    return {};
  Status status;
  for (std::int64_t i = 0; i < iterations && status.ok(); ++i) {
    watch.enter(node, body, i);
    status = show_iteration(i);
    watch.leave();
  }
  watch.finished(node, iterations);
  return status;
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
