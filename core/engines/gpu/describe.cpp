// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/describe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/eval/operator.hpp"

namespace driftscope::gpu {
namespace {

const PlannedNode* planned(const Plan& plan, NodeId node) {
  const auto found = std::ranges::find(plan.nodes, node, &PlannedNode::node);
  return found == plan.nodes.end() ? nullptr : &*found;
}

std::optional<NodeId> reader(const Graph& graph, NodeId node) {
  for (NodeId id = node + 1; id < graph.nodes.size(); ++id)
    for (const ValueId input : graph.nodes[id].reads())
      if (input != no_value && graph.values[input].producer == node) return id;
  return std::nullopt;
}

// The node of the plan that does its work: itself, or the one behind it that it was merged with.
const PlannedNode* home(const Plan& plan, const Graph& graph, NodeId node) {
  for (std::optional<NodeId> at = node; at; at = reader(graph, *at))
    if (const PlannedNode* found = planned(plan, *at)) return found;
  return nullptr;
}

class Names {
 public:
  Names(const Plan& plan, const Graph& graph) : plan_(plan), names_(plan.buffers.size()) {
    const auto name = [&](ValueId value, BufferId buffer) {
      if (value < graph.values.size()) give(buffer, graph.values[value].name);
    };
    for (std::size_t i = 0; i < plan.inputs.size(); ++i) name(graph.inputs[i], plan.inputs[i]);
    for (const PlannedNode& node : plan.nodes)
      for (const auto& [value, buffer] : node.values) name(value, buffer);
    for (const PlannedStep& step : plan.steps) {
      if (const auto* transfer = dynamic_cast<const TransferStep*>(step.step.get()))
        give(transfer->conversion().target, of(transfer->conversion().source));
      const auto* dispatch = dynamic_cast<const DispatchStep*>(step.step.get());
      if (dispatch != nullptr && dispatch->source().rearranges && !step.reads.empty() && !step.writes.empty())
        give(step.writes[0], of(step.reads[0]));
    }
  }

  [[nodiscard]] std::string of(BufferId buffer) const {
    if (!names_[buffer].empty()) return names_[buffer];
    const BufferId root = plan_.root(buffer);
    if (!names_[root].empty()) return names_[root];
    return plan_.buffers[root].storage == Storage::constant ? "weights" : "scratch";
  }

 private:
  void give(BufferId buffer, const std::string& name) {
    if (names_[buffer].empty()) names_[buffer] = name;
  }

  const Plan& plan_;
  std::vector<std::string> names_;
};

std::string layout_text(const Buffer& buffer) {
  std::string text;
  if (buffer.layout.channels > 0) text = fmt::format("channels last ({})", buffer.layout.channels);
  if (buffer.layout.packing != 0)
    text += fmt::format("{}packing {}", text.empty() ? "" : ", ", buffer.layout.packing);
  return text;
}

Program program_of(const Plan& plan, const Names& names, const DispatchStep& step) {
  Program program;
  program.file = step.source().file;
  if (step.source().code) program.code = *step.source().code;
  program.groups = step.groups();
  for (const DispatchStep::Bound& bound : step.bound()) {
    const Buffer& buffer = plan.buffers[bound.buffer];
    program.bindings.push_back(
        {.what = names.of(bound.buffer),
         .dtype = buffer.dtype,
         .shape = buffer.shape,
         .bytes = std::max(buffer.bytes, element_count(buffer.shape) * bits_per_element(buffer.dtype) / 8),
         .layout = layout_text(buffer),
         .written = bound.written});
  }
  return program;
}

}  // namespace

NodePrograms describe_node(const Plan& plan, const Graph& graph, NodeId node) {
  NodePrograms result;
  const PlannedNode* const found = home(plan, graph, node);
  if (found == nullptr) {
    result.nodes.push_back(node_label(graph.nodes[node]));
    return result;
  }
  for (NodeId id = 0; id < graph.nodes.size(); ++id)
    if (id == node || home(plan, graph, id) == found) result.nodes.push_back(node_label(graph.nodes[id]));
  const Names names(plan, graph);
  for (std::size_t i = found->first_step; i < found->end_step; ++i) {
    const Step* const step = plan.steps[i].step.get();
    if (const auto* dispatch = dynamic_cast<const DispatchStep*>(step))
      result.programs.push_back(program_of(plan, names, *dispatch));
    else if (dynamic_cast<const DeviceStep*>(step) == nullptr)
      result.on_strict = true;
  }
  return result;
}

}  // namespace driftscope::gpu
