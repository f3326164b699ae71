// Compiled for size on the web (cmake/core.cmake).
#include "core/lowering/graph_lowering.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/graph/load_constants.hpp"
#include "core/lowering/numbers.hpp"

namespace driftscope::lowering {
namespace {

constexpr std::int64_t max_planned_bytes = std::int64_t{1} << 40;

/// Whether memory for the outputs can be counted at all: what takes more than there can be fails where the
/// strict kernel asks for it.
bool outputs_are_sizable(const Graph& graph, const Node& node) {
  return std::ranges::all_of(node.outputs, [&](ValueId id) {
    if (id == no_value) return true;
    const Value& value = graph.values[id];
    const auto shape = value.static_shape();
    if (!shape || value.dtype == DType::undefined) return true;
    const auto bytes = tensor_byte_size(value.dtype, *shape);
    return bytes.ok() && *bytes <= max_planned_bytes;
  });
}

}  // namespace

GraphLowering::GraphLowering(Graph& graph, std::vector<NodeId> producers, LoweringOptions options,
                             Fallback& fallback, Space home)
    : graph_(graph),
      producers_(std::move(producers)),
      options_(options),
      fallback_(fallback),
      home_(home),
      existing_(graph.values.size()),
      readers_(graph.values.size()),
      is_output_(graph.values.size()),
      absorbed_(graph.nodes.size()),
      deferred_(graph.values.size()) {
  for (NodeId id = 0; id < graph.nodes.size(); ++id)
    for (const ValueId input : graph.nodes[id].reads())
      if (input != no_value) readers_[input].push_back(id);
  for (const Node& node : graph.nodes) was_folded_.push_back(is_known(node));
  for (const ValueId output : graph.outputs) is_output_[output] = true;
  plan_.read_by_fallback.resize(graph.values.size());
}

Result<Plan> GraphLowering::run() {
  DRIFTSCOPE_CHECK(add_inputs());
  for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
    if (absorbed_[id]) continue;
    if (auto status = lower(id); !status.ok())
      return in_context(std::move(status).error(), node_label(graph_.nodes[id]));
    release_weights(id);
  }
  for (const ValueId output : graph_.outputs) {
    DRIFTSCOPE_TRY(const BufferId buffer, read_plain_host(output));
    plan_.outputs.push_back(buffer);
  }
  assign_memory(plan_, options_.hand_over, {memory_rules(Space::host), memory_rules(Space::device)});
  return std::move(plan_);
}

Status GraphLowering::add_inputs() {
  for (const ValueId input : graph_.inputs) {
    const Value& value = graph_.values[input];
    const auto shape = value.static_shape();
    if (!shape) return internal_error(fmt::format("input {} has no shape when it is prepared", value.name));
    const BufferId buffer =
        add({.dtype = value.dtype, .shape = *shape, .layout = {}, .storage = Storage::input, .constant = {}});
    existing_[input].push_back({{}, buffer});
    plan_.inputs.push_back(buffer);
  }
  return {};
}

Status GraphLowering::lower(NodeId id) {
  const Node& node = graph_.nodes[id];
  PlannedNode planned;
  planned.first_step = plan_.steps.size();
  last_of_group_ = id;
  made_late_.clear();
  DRIFTSCOPE_CHECK(make(node));
  if (waits(node)) return {};
  const Node& last = graph_.nodes[last_of_group_];
  planned.values = std::move(made_late_);
  for (const ValueId output : last.outputs) {
    if (output == no_value) continue;
    // Outputs of the graph are converted here, so that the time counts for the node that makes them.
    if (is_output_[output]) {
      DRIFTSCOPE_TRY([[maybe_unused]] const BufferId plain, read_plain_host(output));
    }
    if (output < producers_.size() && !existing_[output].empty())
      planned.values.emplace_back(output, existing_[output].front().buffer);
  }
  planned.node = original_node(last);
  planned.end_step = plan_.steps.size();
  plan_.nodes.push_back(std::move(planned));
  return {};
}

bool GraphLowering::waits(const Node& node) const {
  const ValueId output = node.outputs.empty() ? no_value : node.outputs[0];
  return output != no_value && deferred_[output] == &node;
}

// The engine has packed these weights or copied them into the plan's constants: keeping both doubles memory.
// Outputs and inputs of deferred nodes are handled later. Fallback kernels read the graph's constants.
void GraphLowering::release_weights(NodeId id) {
  // When fusing, a reader of what was folded may pack what that was computed from: int8 weights instead of
  // what DequantizeLinear makes of them.
  if (options_.fuse) {
    if (was_folded_[id]) return;
    for (const ValueId input : graph_.nodes[id].inputs) {
      const NodeId maker = input == no_value ? no_node : graph_.values[input].producer;
      if (maker != no_node && was_folded_[maker] && readers_[input].back() == id) release_inputs(maker);
    }
  }
  release_inputs(id);
}

void GraphLowering::release_inputs(NodeId id) {
  constexpr std::size_t min_bytes = 16 << 10;
  for (const ValueId input : graph_.nodes[id].inputs) {
    if (input == no_value || is_output_[input] || plan_.read_by_fallback[input]) continue;
    const auto& readers = readers_[input];
    if (readers.back() != id ||
        std::ranges::any_of(readers, [this](NodeId reader) { return waits(graph_.nodes[reader]); }))
      continue;
    auto& constant = graph_.values[input].constant;
    if (constant && constant->byte_size() >= min_bytes) constant.reset();
  }
}

Status GraphLowering::make(const Node& node) {
  if (take_constants(node)) return {};
  if (!outputs_are_sizable(graph_, node)) return fall_back(node);
  DRIFTSCOPE_TRY(const bool taken, lower_node(node));
  return taken ? Status{} : fall_back(node);
}

bool GraphLowering::is_known(const Node& node) const {
  return std::ranges::all_of(
      node.outputs, [this](ValueId id) { return id != no_value && graph_.values[id].constant.has_value(); });
}

bool GraphLowering::take_constants(const Node& node) {
  if (!is_known(node)) return false;
  // When fusing, only those that are read are kept (later, by their readers).
  for (const ValueId id : node.outputs)
    if (!options_.fuse) existing_[id] = {{{}, keep_as(*graph_.values[id].constant, {})}};
  return true;
}

Status GraphLowering::fall_back(const Node& node) {
  for (const Subgraph& subgraph : node.subgraphs) load_constants(*subgraph.graph);
  std::vector<BufferId> reads;
  for (const ValueId id : node.reads()) {
    BufferId buffer = no_buffer;
    if (id != no_value) {
      plan_.read_by_fallback[id] = true;
      DRIFTSCOPE_TRY(buffer, read_plain_host(id));
    }
    reads.push_back(buffer);
  }
  std::vector<BufferId> writes;
  for (const ValueId id : node.outputs) {
    writes.push_back(no_buffer);
    if (id == no_value) continue;
    const Value& made = graph_.values[id];
    writes.back() = add({.dtype = made.dtype,
                         .shape = made.static_shape().value_or(Shape{0}),
                         .layout = {},
                         .storage = Storage::run_owned,
                         .constant = {}});
    existing_[id] = {{{}, writes.back()}};
  }
  DRIFTSCOPE_TRY(auto step, make_fallback_step(graph_, node, fallback_, reads, writes));
  std::erase(reads, no_buffer);
  std::erase(writes, no_buffer);
  emit({.step = std::move(step), .reads = std::move(reads), .writes = std::move(writes)});
  ++plan_.on_fallback[node.op_type];
  return {};
}

const Tensor* GraphLowering::constant(ValueId id) const {
  const auto& tensor = graph_.values[id].constant;
  return tensor ? &*tensor : nullptr;
}

const Node* GraphLowering::producer(ValueId id) const {
  if (id == no_value) return nullptr;
  const NodeId node = graph_.values[id].producer;
  return node == no_node ? nullptr : &graph_.nodes[node];
}

bool GraphLowering::is_float(ValueId id) const {
  const Value& value = graph_.values[id];
  const auto shape = value.static_shape();
  return value.dtype == DType::float32 && shape && element_count(*shape) > 0;
}

bool GraphLowering::made_here(ValueId id) const {
  return graph_.values[id].producer != no_node && !existing_[id].empty() &&
         existing_[id].front().form.space == home_;
}

Layout GraphLowering::layout(ValueId id) const {
  return existing_[id].empty() ? Layout{} : existing_[id].front().form.layout;
}

BufferId GraphLowering::add(Buffer buffer) {
  const auto id = static_cast<BufferId>(plan_.buffers.size());
  buffer.root = id;
  if (buffer.bytes == 0 && buffer.storage == Storage::arena) {
    buffer.bytes = memory_size(buffer);
    buffer.object_kind = object_kind(buffer);
  }
  plan_.buffers.push_back(std::move(buffer));
  return id;
}

BufferId GraphLowering::keep_as(Tensor tensor, Form form) {
  (void)tensor.bytes();  // steps read it on any thread
  return add({.dtype = tensor.dtype(),
              .shape = tensor.shape(),
              .layout = form.layout,
              .space = form.space,
              .storage = Storage::constant,
              .constant = std::move(tensor)});
}

BufferId GraphLowering::write(ValueId id, Layout layout) {
  const Value& value = graph_.values[id];
  const BufferId buffer = add({.dtype = held(value.dtype, home_),
                               .shape = *value.static_shape(),
                               .layout = layout,
                               .space = home_,
                               .constant = {}});
  existing_[id] = {{{layout, home_}, buffer}};
  return buffer;
}

BufferId GraphLowering::scratch(std::size_t bytes) {
  return add({.dtype = DType::uint8,
              .shape = {static_cast<std::int64_t>(bytes)},
              .layout = {},
              .space = home_,
              .constant = {}});
}

BufferId GraphLowering::scratch_value(Shape shape, Layout layout) {
  return add(
      {.dtype = DType::float32, .shape = std::move(shape), .layout = layout, .space = home_, .constant = {}});
}

void GraphLowering::alias(ValueId id, BufferId source, Layout layout) {
  const Value& value = graph_.values[id];
  Buffer view = plan_.buffers[source];
  view.layout = layout;
  view.shape = value.static_shape().value_or(view.shape);
  if (view.storage == Storage::constant)
    if (auto tensor = view.constant.reshaped(view.shape); tensor.ok()) view.constant = *std::move(tensor);
  const BufferId root = view.root;
  const Form form{layout, view.space};
  const BufferId buffer = add(std::move(view));
  plan_.buffers[buffer].root = root;
  existing_[id] = {{form, buffer}};
}

Result<BufferId> GraphLowering::read_as(ValueId id, Form form) {
  const Value& value = graph_.values[id];
  if (const Node* late = deferred_[id]; late != nullptr && existing_[id].empty()) {
    DRIFTSCOPE_CHECK(make(*late));
    if (id < producers_.size()) made_late_.emplace_back(id, existing_[id].front().buffer);
  }
  std::vector<Existing>& known = existing_[id];
  if (known.empty()) {
    if (!value.constant) return internal_error(fmt::format("value {} is read before it is made", value.name));
    DRIFTSCOPE_TRY(Tensor tensor, held(*value.constant, form.space));
    known.push_back({{{}, form.space}, keep_as(std::move(tensor), {{}, form.space})});
  }
  // Before the shape is used: that of a run_owned value may not be known.
  if (form.plain() && known.front().form == form) return known.front().buffer;
  const Shape shape = *value.static_shape();
  for (const Existing& existing : known)
    if (existing.form.space == form.space && same_order(shape, existing.form.layout, form.layout))
      return existing.buffer;
  // Prefer the same memory space, then the plain order, which is one step from any other.
  const auto distance = [&](const Existing& existing) {
    return (existing.form.space == form.space ? 0 : 2) + (existing.form.plain() ? 0 : 1);
  };
  const auto nearest =
      std::min_element(known.begin(), known.end(),
                       [&](const Existing& a, const Existing& b) { return distance(a) < distance(b); });
  DRIFTSCOPE_TRY(const BufferId buffer, convert(id, *nearest, form));
  existing_[id].push_back({form, buffer});
  return buffer;
}

Result<BufferId> GraphLowering::read_mapped(ValueId id, Layout layout, HostMap map) {
  const Tensor* known = constant(id);
  if (known != nullptr && layout.plain()) {
    DRIFTSCOPE_TRY(Tensor mapped, map(*known));
    return keep(std::move(mapped));
  }
  DRIFTSCOPE_TRY(const BufferId source, read_plain_host(id));
  const Shape size = *value(id).static_shape();
  const Form from;
  const Form to{layout, home_};
  const BufferId mapped = add(
      {.dtype = DType::float32, .shape = size, .layout = {}, .storage = Storage::run_owned, .constant = {}});
  const BufferId target =
      add({.dtype = DType::float32, .shape = size, .layout = layout, .space = home_, .constant = {}});
  emit({.step = make_map_step(source, mapped, std::move(map)), .reads = {source}, .writes = {mapped}});
  DRIFTSCOPE_CHECK(emit_conversion({DType::float32, size, from, to, mapped, target}));
  return target;
}

Result<BufferId> GraphLowering::convert(ValueId id, Existing from, Form to) {
  const Value& value = graph_.values[id];
  const Shape shape = *value.static_shape();
  const Buffer& source = plan_.buffers[from.buffer];
  if (source.storage == Storage::constant && source.dtype != held(value.dtype, to.space)) {
    if (!value.constant) return internal_error(fmt::format("constant {} is no longer there", value.name));
    DRIFTSCOPE_TRY(Tensor tensor, held(*value.constant, to.space));
    if (!to.plain()) {
      DRIFTSCOPE_TRY(tensor, arrange({value.name, shape, tensor, {}}, to.layout));
    }
    return keep_as(std::move(tensor), to);
  }
  if (source.storage == Storage::constant) {
    if (same_order(shape, from.form.layout, to.layout)) return keep_as(source.constant, to);
    DRIFTSCOPE_TRY(Tensor tensor, arrange({value.name, shape, source.constant, from.form.layout}, to.layout));
    return keep_as(std::move(tensor), to);
  }
  if (from.form.space == to.space && !from.form.plain() && !to.plain()) {
    DRIFTSCOPE_TRY(const BufferId plain, read_as(id, {{}, to.space}));
    return convert(id, {{{}, to.space}, plain}, to);
  }
  const BufferId target = add({.dtype = held(value.dtype, to.space),
                               .shape = shape,
                               .layout = to.layout,
                               .space = to.space,
                               .constant = {}});
  DRIFTSCOPE_CHECK(emit_conversion({value.dtype, shape, from.form, to, from.buffer, target}));
  return target;
}

Result<Tensor> GraphLowering::held(const Tensor& tensor, Space space) const {
  return held(tensor.dtype(), space) == tensor.dtype() ? Result<Tensor>(tensor) : as_float32(tensor);
}

Result<Tensor> GraphLowering::arrange(const Constant& constant, Layout to) const {
  return rearranged(constant, to);
}

std::int64_t GraphLowering::memory_size(const Buffer& buffer) const {
  return element_count(buffer.shape) * bits_per_element(buffer.dtype) / 8;
}

std::uint64_t GraphLowering::object_kind(const Buffer& buffer) const {
  return static_cast<std::uint64_t>(buffer.bytes);
}

NodeId GraphLowering::original_node(const Node& node) const {
  for (const ValueId output : node.outputs)
    if (output < producers_.size()) return producers_[output];
  return no_node;
}

}  // namespace driftscope::lowering
