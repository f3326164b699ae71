#include "core/runtime/node_session.hpp"

#include <fmt/format.h>

#include "core/graph/constant_nodes.hpp"
#include "core/platform/platform.hpp"

namespace driftscope {

namespace {

// Constants beyond this are computed in every run: a model may unfold a small one into gigabytes.
constexpr std::size_t max_ahead_bytes = std::size_t{64} << 20;

}  // namespace

NodeSession::NodeSession(std::shared_ptr<const Graph> graph)
    : graph_(std::move(graph)),
      store_(*graph_),
      constant_(constant_nodes(*graph_)),
      ahead_(graph_->nodes.size()) {}

Status NodeSession::start(std::vector<Tensor> inputs, TraceSink& trace_sink) {
  if (inputs.size() != graph_->inputs.size())
    return internal_error(fmt::format("the run was started with {} inputs, the graph has {}", inputs.size(),
                                      graph_->inputs.size()));
  store_.reset();
  trace_sink_ = &trace_sink;
  next_ = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ValueId id = graph_->inputs[i];
    if (trace_sink.wants(id)) DRIFTSCOPE_CHECK(trace_sink.value(id, inputs[i]));
    store_.put(id, std::move(inputs[i]));
  }
  return {};
}

Status NodeSession::step() {
  const Node& node = graph_->nodes[next_];
  std::vector<const Tensor*> inputs;
  for (const ValueId id : node.reads()) {
    inputs.push_back(store_.get(id));
    if (id != no_value && inputs.back() == nullptr)
      return internal_error(fmt::format("node {} ({}): its input {} is missing", node.name, node.op_type,
                                        graph_->value_name(id)));
  }
  const std::int64_t begin = monotonic_ns();
  DRIFTSCOPE_TRY(std::vector<Tensor> outputs, compute(inputs));
  const std::int64_t time = monotonic_ns() - begin;
  if (outputs.size() != node.outputs.size())
    return internal_error(fmt::format("node {} ({}): the engine made {} outputs of {}", node.name,
                                      node.op_type, outputs.size(), node.outputs.size()));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ValueId id = node.outputs[i];
    if (id == no_value) continue;
    if (trace_sink_->wants(id)) DRIFTSCOPE_CHECK(trace_sink_->value(id, outputs[i]));
    store_.put(id, std::move(outputs[i]));
  }
  trace_sink_->node_done(next_, time);
  store_.node_done(next_);
  ++next_;
  return {};
}

Result<std::vector<Tensor>> NodeSession::compute(std::span<const Tensor* const> inputs) {
  if (!ahead_[next_].empty()) return ahead_[next_];
  DRIFTSCOPE_TRY(std::vector<Tensor> outputs, run_node(next_, inputs));
  if (constant_[next_]) keep_ahead(outputs);
  return outputs;
}

void NodeSession::keep_ahead(const std::vector<Tensor>& outputs) {
  std::size_t bytes = 0;
  for (const Tensor& output : outputs) bytes += output.byte_size();
  if (bytes > max_ahead_bytes - ahead_bytes_) return;
  ahead_bytes_ += bytes;
  ahead_[next_] = outputs;
}

Result<Progress> NodeSession::poll(std::int64_t budget_ns) {
  if (trace_sink_ == nullptr) return internal_error("poll before start");
  const std::int64_t begin = monotonic_ns();
  while (next_ < graph_->nodes.size()) {
    DRIFTSCOPE_CHECK(step());
    if (monotonic_ns() - begin >= budget_ns) break;
  }
  return Progress{static_cast<std::int64_t>(next_), static_cast<std::int64_t>(graph_->nodes.size())};
}

Result<std::vector<Tensor>> NodeSession::finish() {
  if (trace_sink_ == nullptr || next_ < graph_->nodes.size())
    return internal_error("finish before the run was finished");
  std::vector<Tensor> outputs;
  for (const ValueId id : graph_->outputs) {
    const Tensor* output = store_.get(id);
    if (output == nullptr) return internal_error(fmt::format("output {} is missing", graph_->value_name(id)));
    outputs.push_back(*output);
  }
  store_.reset();
  trace_sink_ = nullptr;
  return outputs;
}

}  // namespace driftscope
