#include "core/lowering/graph_lowering.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/eval/operator.hpp"
#include "core/graph/load_constants.hpp"

namespace driftscope::fast {
namespace {

// Waking another thread takes about as long as this many multiplications and additions.
constexpr std::int64_t min_work_for_threads = 60'000;

class XnnStep final : public Step {
 public:
  XnnStep(XnnOperator op, pthreadpool_t pool, SetupOperator setup)
      : op_(std::move(op)), pool_(pool), setup_(std::move(setup)) {}
  Status bind(const Memory& memory) override {
    return xnn_check(setup_(op_.get(), memory), "XNNPACK: setup");
  }
  Status run(Memory& /*memory*/) override {
    return xnn_check(xnn_run_operator(op_.get(), pool_), "XNNPACK: run");
  }

 private:
  XnnOperator op_;
  pthreadpool_t pool_;
  SetupOperator setup_;
};

struct TransposeCalls {
  xnn_status (*create)(std::uint32_t, xnn_operator_t*);
  xnn_status (*reshape)(xnn_operator_t, std::size_t, const std::size_t*, const std::size_t*, pthreadpool_t);
  xnn_status (*setup)(xnn_operator_t, const void*, void*);
};

TransposeCalls transpose_calls(std::int64_t element_bytes) {
  switch (element_bytes) {
    case 1: return {xnn_create_transpose_nd_x8, xnn_reshape_transpose_nd_x8, xnn_setup_transpose_nd_x8};
    case 2: return {xnn_create_transpose_nd_x16, xnn_reshape_transpose_nd_x16, xnn_setup_transpose_nd_x16};
    case 4: return {xnn_create_transpose_nd_x32, xnn_reshape_transpose_nd_x32, xnn_setup_transpose_nd_x32};
    default: return {xnn_create_transpose_nd_x64, xnn_reshape_transpose_nd_x64, xnn_setup_transpose_nd_x64};
  }
}

}  // namespace

LowerOperator FastOperatorTable::find(const Node& node) const {
  if (!node.domain.empty()) return nullptr;
  const auto found = table_.find(node.op_type);
  return found == table_.end() ? nullptr : found->second;
}

Lowering::Lowering(Graph& graph, std::vector<NodeId> producers, bool fuse, bool hand_over, pthreadpool_t pool,
                   StrictResources& strict)
    : graph_(graph),
      producers_(std::move(producers)),
      fuse_(fuse),
      hand_over_(hand_over),
      pool_(pool),
      strict_(strict),
      existing_(graph.values.size()),
      readers_(graph.values.size()),
      is_output_(graph.values.size()),
      absorbed_(graph.nodes.size()),
      deferred_(graph.values.size()) {
  for (NodeId id = 0; id < graph.nodes.size(); ++id)
    for (const ValueId input : graph.nodes[id].reads())
      if (input != no_value) readers_[input].push_back(id);
  for (const ValueId output : graph.outputs) is_output_[output] = true;
  plan_.read_by_strict.resize(graph.values.size());
}

Result<Plan> Lowering::run() {
  for (const ValueId input : graph_.inputs) {
    const Value& value = graph_.values[input];
    const auto shape = value.static_shape();
    if (!shape) return internal_error(fmt::format("input {} has no shape when it is prepared", value.name));
    const BufferId buffer =
        add({.dtype = value.dtype, .shape = *shape, .layout = {}, .storage = Storage::input, .constant = {}});
    existing_[input].push_back({{}, buffer});
    plan_.inputs.push_back(buffer);
  }
  for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
    if (absorbed_[id]) continue;
    if (auto status = lower(id); !status.ok())
      return in_context(std::move(status).error(), node_label(graph_.nodes[id]));
    release_weights(id);
  }
  for (const ValueId output : graph_.outputs) {
    DRIFTSCOPE_TRY(const BufferId buffer, read(output, {}));
    plan_.outputs.push_back(buffer);
  }
  assign_memory(plan_, hand_over_);
  return std::move(plan_);
}

Status Lowering::lower(NodeId id) {
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
    // What the caller gets is converted here, where its time belongs.
    if (is_output_[output]) {
      DRIFTSCOPE_TRY([[maybe_unused]] const BufferId plain, read(output, {}));
    }
    if (output < producers_.size() && !existing_[output].empty())
      planned.values.emplace_back(output, existing_[output].front().buffer);
  }
  planned.node = original_node(last);
  planned.end_step = plan_.steps.size();
  plan_.nodes.push_back(std::move(planned));
  return {};
}

bool Lowering::waits(const Node& node) const {
  const ValueId output = node.outputs.empty() ? no_value : node.outputs[0];
  return output != no_value && deferred_[output] == &node;
}

// XNNPACK has packed them, or they have become a constant of the plan: as much memory again. Outputs and
// what a node that waits reads are looked at later. Kernels of strict ask the graph.
void Lowering::release_weights(NodeId id) {
  constexpr std::size_t min_bytes = 16 << 10;
  for (const ValueId input : graph_.nodes[id].inputs) {
    if (input == no_value || is_output_[input] || plan_.read_by_strict[input]) continue;
    const auto& readers = readers_[input];
    if (readers.back() != id ||
        std::ranges::any_of(readers, [this](NodeId reader) { return waits(graph_.nodes[reader]); }))
      continue;
    auto& constant = graph_.values[input].constant;
    if (constant && constant->byte_size() >= min_bytes) constant.reset();
  }
}

Status Lowering::make(const Node& node) {
  if (take_constants(node)) return {};
  if (const LowerOperator lower_operator = fast_operators().find(node)) {
    DRIFTSCOPE_TRY(const bool taken, lower_operator(*this, node));
    if (taken) return {};
  }
  return lower_strictly(node);
}

bool Lowering::take_constants(const Node& node) {
  for (const ValueId id : node.outputs)
    if (id == no_value || !graph_.values[id].constant) return false;
  // When fusing, only those that somebody reads are kept.
  for (const ValueId id : node.outputs)
    if (!fuse_) existing_[id] = {{{}, keep(*graph_.values[id].constant)}};
  return true;
}

Status Lowering::lower_strictly(const Node& node) {
  for (const Subgraph& subgraph : node.subgraphs) load_constants(*subgraph.graph);
  std::vector<BufferId> reads;
  for (const ValueId id : node.reads()) {
    BufferId buffer = no_buffer;
    if (id != no_value) {
      plan_.read_by_strict[id] = true;
      DRIFTSCOPE_TRY(buffer, read(id, {}));
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
  DRIFTSCOPE_TRY(auto step, make_strict_step(graph_, node, strict_, reads, writes));
  std::erase(reads, no_buffer);
  std::erase(writes, no_buffer);
  emit({.step = std::move(step), .reads = std::move(reads), .writes = std::move(writes)});
  ++plan_.on_strict[node.op_type];
  return {};
}

const Tensor* Lowering::constant(ValueId id) const {
  const auto& tensor = graph_.values[id].constant;
  return tensor ? &*tensor : nullptr;
}

const Node* Lowering::producer(ValueId id) const {
  if (id == no_value) return nullptr;
  const NodeId node = graph_.values[id].producer;
  return node == no_node ? nullptr : &graph_.nodes[node];
}

bool Lowering::is_float(ValueId id) const {
  const Value& value = graph_.values[id];
  const auto shape = value.static_shape();
  return value.dtype == DType::float32 && shape && element_count(*shape) > 0;
}

Layout Lowering::layout(ValueId id) const {
  return existing_[id].empty() ? Layout{} : existing_[id].front().layout;
}

pthreadpool_t Lowering::pool_for(std::int64_t work) const {
  return work < min_work_for_threads ? nullptr : pool_;
}

BufferId Lowering::add(Buffer buffer) {
  const auto id = static_cast<BufferId>(plan_.buffers.size());
  buffer.root = id;
  if (buffer.bytes == 0 && buffer.storage == Storage::arena)
    buffer.bytes = element_count(buffer.shape) * bits_per_element(buffer.dtype) / 8;
  plan_.buffers.push_back(std::move(buffer));
  return id;
}

BufferId Lowering::keep(Tensor tensor) {
  (void)tensor.bytes();  // steps read it on any thread
  return add({.dtype = tensor.dtype(),
              .shape = tensor.shape(),
              .layout = {},
              .storage = Storage::constant,
              .constant = std::move(tensor)});
}

BufferId Lowering::write(ValueId id, Layout layout) {
  const Value& value = graph_.values[id];
  const BufferId buffer =
      add({.dtype = value.dtype, .shape = *value.static_shape(), .layout = layout, .constant = {}});
  existing_[id] = {{layout, buffer}};
  return buffer;
}

BufferId Lowering::scratch(std::size_t bytes) {
  return add(
      {.dtype = DType::uint8, .shape = {static_cast<std::int64_t>(bytes)}, .layout = {}, .constant = {}});
}

void Lowering::alias(ValueId id, BufferId source, Layout layout) {
  const Value& value = graph_.values[id];
  Buffer view = plan_.buffers[source];
  view.layout = layout;
  view.shape = value.static_shape().value_or(view.shape);
  if (view.storage == Storage::constant)
    if (auto tensor = view.constant.reshaped(view.shape); tensor.ok()) view.constant = *std::move(tensor);
  const BufferId root = view.root;
  const BufferId buffer = add(std::move(view));
  plan_.buffers[buffer].root = root;
  existing_[id] = {{layout, buffer}};
}

Result<BufferId> Lowering::read(ValueId id, Layout layout) {
  const Value& value = graph_.values[id];
  if (const Node* late = deferred_[id]; late != nullptr && existing_[id].empty()) {
    DRIFTSCOPE_CHECK(make(*late));
    if (id < producers_.size()) made_late_.emplace_back(id, existing_[id].front().buffer);
  }
  std::vector<Existing>& known = existing_[id];
  if (known.empty()) {
    if (!value.constant) return internal_error(fmt::format("value {} is read before it is made", value.name));
    known.push_back({{}, keep(*value.constant)});
  }
  if (layout.plain() && known.front().layout.plain()) return known.front().buffer;
  const Shape shape = *value.static_shape();
  for (const Existing& existing : known)
    if (same_order(shape, existing.layout, layout)) return existing.buffer;
  // From the plain order if it exists, which is one step from any other.
  const auto plain =
      std::find_if(known.begin(), known.end(), [](const Existing& e) { return e.layout.plain(); });
  DRIFTSCOPE_TRY(const BufferId buffer, convert(id, plain == known.end() ? known.front() : *plain, layout));
  existing_[id].push_back({layout, buffer});
  return buffer;
}

Result<BufferId> Lowering::convert(ValueId id, const Existing& from, Layout to) {
  const Value& value = graph_.values[id];
  const Shape shape = *value.static_shape();
  const std::int64_t element_bytes = bits_per_element(value.dtype) / 8;
  const Buffer& source = plan_.buffers[from.buffer];
  if (source.storage == Storage::constant) {
    DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(value.dtype, shape, value.name));
    DRIFTSCOPE_CHECK(reorder(shape, static_cast<std::size_t>(element_bytes), from.layout,
                             source.constant.bytes().data(), to, tensor.mutable_bytes().data()));
    const BufferId buffer = keep(std::move(tensor));
    plan_.buffers[buffer].layout = to;
    return buffer;
  }
  if (!from.layout.plain() && !to.plain()) {
    DRIFTSCOPE_TRY(const BufferId plain, read(id, {}));
    return convert(id, {{}, plain}, to);
  }
  const Blocks blocks = blocks_of(shape, from.layout.plain() ? to : from.layout);
  const auto n = static_cast<std::size_t>(blocks.batch);
  const auto c = static_cast<std::size_t>(blocks.channels);
  const auto s = static_cast<std::size_t>(blocks.spatial);
  const std::array<std::size_t, 3> dims = {n, from.layout.plain() ? c : s, from.layout.plain() ? s : c};
  constexpr std::array<std::size_t, 3> order = {0, 2, 1};
  const TransposeCalls calls = transpose_calls(element_bytes);
  xnn_operator_t raw = nullptr;
  DRIFTSCOPE_CHECK(xnn_check(calls.create(0, &raw), "XNNPACK: create a transposition"));
  XnnOperator op(raw);
  const pthreadpool_t pool = pool_for(element_count(shape));
  DRIFTSCOPE_CHECK(
      xnn_check(calls.reshape(raw, 3, dims.data(), order.data(), pool), "XNNPACK: reshape a transposition"));
  const BufferId in = from.buffer;
  const BufferId out = add({.dtype = value.dtype, .shape = shape, .layout = to, .constant = {}});
  emit(std::move(op), pool, {in}, {out}, [=](xnn_operator_t it, const Memory& memory) {
    return calls.setup(it, memory.address(in), memory.address(out));
  });
  return out;
}

void Lowering::emit(XnnOperator op, pthreadpool_t pool, std::vector<BufferId> reads,
                    std::vector<BufferId> writes, SetupOperator setup, BufferId in_place) {
  emit({.step = std::make_unique<XnnStep>(std::move(op), pool, std::move(setup)),
        .reads = std::move(reads),
        .writes = std::move(writes),
        .in_place = in_place});
}

NodeId Lowering::original_node(const Node& node) const {
  for (const ValueId output : node.outputs)
    if (output < producers_.size()) return producers_[output];
  return no_node;
}

}  // namespace driftscope::fast
