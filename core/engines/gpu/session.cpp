#include "core/engines/gpu/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>

#include "core/engines/gpu/describe.hpp"
#include "core/engines/gpu/host_order.hpp"
#include "core/lowering/numbers.hpp"
#include "core/lowering/simplify.hpp"

namespace driftscope::gpu {
namespace {

// What may come back with one submission: more staging memory is not worthwhile.
constexpr std::int64_t max_returned_bytes = std::int64_t{64} << 20;

std::size_t element_bytes(DType dtype) { return static_cast<std::size_t>(bits_per_element(dtype) / 8); }

std::int64_t padded_bytes(std::int64_t bytes, std::int64_t unit) { return (bytes + unit - 1) / unit * unit; }

std::string counts_of(const std::map<std::string, int>& operators) {
  std::string text;
  for (const auto& [op, count] : operators)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", op, count);
  return text;
}

}  // namespace

GpuSession::GpuSession(std::unique_ptr<Resources> resources, std::shared_ptr<Device> device, Planner planner,
                       std::vector<std::string> labels, RanWith ran, bool time_nodes,
                       std::int64_t patience_ns)
    : resources_(std::move(resources)),
      device_(std::move(device)),
      planner_(std::move(planner)),
      labels_(std::move(labels)),
      ran_(std::move(ran)),
      time_nodes_(time_nodes),
      patience_ns_(patience_ns) {}

GpuSession::~GpuSession() {
  drop_actions();
  for (const ObjectId object : objects_) device_->release_object(object);
  for (const ObjectId object : constants_)
    if (object != no_id) device_->release_object(object);
}

Status GpuSession::start(std::vector<Tensor> inputs, TraceSink& trace_sink) {
  if (inputs.size() != resources_->graph->inputs.size())
    return internal_error(fmt::format("the run was started with {} inputs, the graph has {}", inputs.size(),
                                      resources_->graph->inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const ValueId id = resources_->graph->inputs[i]; trace_sink.wants(id))
      DRIFTSCOPE_CHECK(trace_sink.value(id, inputs[i]));
  trace_sink_ = &trace_sink;
  inputs_ = std::move(inputs);
  next_ = nodes_done_ = 0;
  submitted_ = false;
  host_ns_ = 0;
  return {};
}

Result<Progress> GpuSession::poll(std::int64_t budget_ns) {
  if (trace_sink_ == nullptr) return internal_error("poll before start");
  const std::int64_t begin = monotonic_ns();
  if (state_ != State::ready) {
    DRIFTSCOPE_TRY(bool there, plan());
    if (there) {
      DRIFTSCOPE_TRY(there, device_->ready());
    }
    if (!there) {
      DRIFTSCOPE_CHECK(still_prepares());
      return progress(true);
    }
    state_ = State::ready;
  }
  if (next_ == 0 && !submitted_) {
    if (calls_ != nullptr) calls_->begin_run();
    for (std::size_t i = 0; i < inputs_.size(); ++i) tensors_[plan_.inputs[i]] = std::move(inputs_[i]);
    inputs_.clear();
    DRIFTSCOPE_CHECK(arrange(wanted(), time_nodes_ || trace_sink_->wants_times()));
  }
  while (next_ < actions_.size()) {
    DRIFTSCOPE_TRY(const bool done, perform(actions_[next_]));
    if (!done) return progress(true);
    ++next_;
    if (monotonic_ns() - begin >= budget_ns) break;
  }
  return progress(false);
}

Status GpuSession::still_waits(std::int64_t since_ns, std::string_view what) {
  if (monotonic_ns() - since_ns <= patience_ns_) return {};
  device_->give_up();
  return limit_error(fmt::format(
      "{} has not finished for {} s: {}. The option timeout=SECONDS waits longer; the next run begins "
      "with a new device.",
      device_->facts().name.empty() ? "the GPU" : device_->facts().name, patience_ns_ / 1'000'000'000, what));
}

// Each program that is compiled is progress, however many are still to come.
Status GpuSession::still_prepares() {
  const ProgramCounts now = device_->program_counts();
  if (now.asked != seen_.asked || now.compiled != seen_.compiled) prepared_ns_ = monotonic_ns();
  seen_ = now;
  const std::int64_t total = now.asked - known_;
  if (total == 0) return still_waits(prepared_ns_, "making the device");
  return still_waits(prepared_ns_,
                     fmt::format("compiling shaders, {} of {} are done", now.compiled - known_, total));
}

Progress GpuSession::progress(bool waiting) const {
  Progress result;
  result.preparing = state_ != State::ready;
  if (result.preparing) {
    result.prepared = seen_.compiled - known_;
    result.to_prepare = seen_.asked - known_;
  }
  result.waiting = waiting;
  // A graph without nodes has to be prepared as well.
  result.total = std::max<std::int64_t>(std::ssize(labels_), 1);
  if (state_ == State::ready && next_ == actions_.size())
    result.done = result.total;
  else
    result.done = std::min<std::int64_t>(static_cast<std::int64_t>(nodes_done_), result.total - 1);
  return result;
}

Result<bool> GpuSession::plan() {
  if (prepared_ns_ == 0) {
    prepared_ns_ = monotonic_ns();
    known_ = device_->program_counts().compiled;  // for the sessions before this one
  }
  if (state_ != State::opening) return true;
  DRIFTSCOPE_TRY(const bool there, device_->ready());
  if (!there) return false;
  DRIFTSCOPE_TRY(auto made, planner_(*resources_, *device_));
  if (!made) return false;
  plan_ = *std::move(made);
  DRIFTSCOPE_CHECK(prepare());
  state_ = State::compiling;
  return true;
}

Result<std::optional<NodePrograms>> GpuSession::programs(const Graph& graph, NodeId node) {
  DRIFTSCOPE_TRY(const bool there, plan());
  if (!there) {
    DRIFTSCOPE_CHECK(still_prepares());
    return std::optional<NodePrograms>();
  }
  NodePrograms described = describe_node(plan_, graph, node);
  described.language = ran_.instruction_set;
  described.device = device_->facts().name;
  described.driver = device_->facts().driver;
  described.software = device_->facts().software;
  described.draws = device_->facts().max_workgroup_threads == 0;
  return std::optional<NodePrograms>(std::move(described));
}

Status GpuSession::prepare() {
  const DeviceFacts& facts = device_->facts();
  ran_.device = facts.name;
  ran_.options["driver"] = facts.driver;
  if (facts.software) ran_.options["software_gpu"] = "true";
  for (const auto& [name, choice] : resources_->choices) ran_.options[name] = choice;
  ran_.options["node_times"] = facts.timestamps ? "timestamps of the GPU" : "wall time of a submission each";
  if (facts.precision_bits > 0) ran_.options["precision_bits"] = std::to_string(facts.precision_bits);
  lowering::release_constants(*resources_->graph, plan_);
  if (!plan_.on_fallback.empty()) ran_.options["on_strict"] = counts_of(plan_.on_fallback);
  tensors_.resize(plan_.buffers.size());
  DRIFTSCOPE_TRY(arena_, Tensor::make(DType::uint8, {plan_.arena(Space::host)}, "intermediate values"));
  base_ = arena_.mutable_bytes().data();
  DRIFTSCOPE_CHECK(make_objects());
  for (PlannedStep& step : plan_.steps) {
    device_steps_.push_back(dynamic_cast<const DeviceStep*>(step.step.get()));
    if (!step.moving) DRIFTSCOPE_CHECK(step.step->bind(*this));
  }
  return {};
}

Status GpuSession::make_objects() {
  for (const std::uint64_t bytes : plan_.objects) {
    DRIFTSCOPE_TRY(const ObjectId object,
                   device_->make_object({static_cast<std::int64_t>(bytes), device_->facts().layers},
                                        "intermediate values"));
    objects_.push_back(object);
  }
  constants_.resize(plan_.buffers.size());
  for (BufferId id = 0; id < plan_.buffers.size(); ++id) {
    Buffer& buffer = plan_.buffers[id];
    if (buffer.storage != Storage::constant || buffer.space != Space::device || buffer.root != id) continue;
    const std::int64_t bytes =
        padded_bytes(std::max<std::int64_t>(std::ssize(buffer.constant.bytes()), 1), 16);
    DRIFTSCOPE_TRY(constants_[id], device_->make_object({bytes, 1}, "weights"));
    const auto whole = buffer.constant.bytes();
    const std::size_t even = whole.size() / 4 * 4;
    if (even == whole.size()) {
      DRIFTSCOPE_CHECK(device_->write(constants_[id], whole, bytes));
    } else {
      std::vector<std::byte> padded(static_cast<std::size_t>(bytes));
      std::memcpy(padded.data(), whole.data(), whole.size());
      DRIFTSCOPE_CHECK(device_->write(constants_[id], padded, bytes));
    }
    buffer.constant = Tensor();
  }
  return {};
}

Location GpuSession::locate(BufferId id) const {
  const Buffer& root = plan_.buffers[plan_.root(id)];
  if (root.space == Space::device)
    return {nullptr, root.storage == Storage::constant ? constants_[root.root] : objects_[root.object], 0};
  switch (root.storage) {
    case Storage::constant: return {const_cast<std::byte*>(root.constant.bytes().data())};
    case Storage::arena: return {base_ + root.offset};
    default: return {const_cast<std::byte*>(tensors_[root.root].bytes().data())};
  }
}

std::int64_t GpuSession::layer_bytes(BufferId id) const {
  const Buffer& root = plan_.buffers[plan_.root(id)];
  if (root.storage == Storage::constant)
    return padded_bytes(element_count(root.shape) * bits_per_element(root.dtype) / 8, 16);
  return root.bytes / device_->facts().layers;
}

Result<Tensor> GpuSession::tensor(BufferId id) const {
  const Buffer& buffer = plan_.buffers[id];
  const Buffer& root = plan_.buffers[buffer.root];
  if (moves(root.storage))
    return id == buffer.root ? tensors_[id] : tensors_[root.root].reshaped(buffer.shape);
  if (root.storage == Storage::constant) return root.constant.reshaped(buffer.shape);
  DRIFTSCOPE_TRY(Tensor copy, Tensor::unwritten(buffer.dtype, buffer.shape, "a copy of a value"));
  if (copy.elements() > 0) std::memcpy(copy.mutable_bytes().data(), address(id), copy.mutable_bytes().size());
  return copy;
}

// By value of each node, one after the other: whether the trace sink takes it from the device.
std::vector<bool> GpuSession::wanted() const {
  std::vector<bool> wants;
  for (const PlannedNode& node : plan_.nodes)
    for (const auto& [value, buffer] : node.values)
      wants.push_back(plan_.buffers[buffer].space == Space::device && trace_sink_->wants(value));
  return wants;
}

void GpuSession::drop_actions() {
  for (const Action& action : actions_)
    if (action.recording != no_id) device_->release_recording(action.recording);
  actions_.clear();
}

Status GpuSession::arrange(std::vector<bool> wants, bool timed) {
  // Without timestamps a node's time is that of a submission of its own.
  const bool apart = timed && !device_->facts().timestamps;
  wants.push_back(timed);
  if (arranged_ && wants == arranged_for_) return {};
  drop_actions();
  std::vector<Command> commands;
  Action pending;
  std::int64_t returned_bytes = 0;
  const auto submit = [&]() -> Status {
    if (commands.empty()) return {};
    pending.kind = Action::Kind::submission;
    pending.timed = timed && device_->facts().timestamps;
    pending.waits = !pending.returned.empty() || timed;
    DRIFTSCOPE_TRY(pending.recording, device_->record(std::move(commands), pending.timed));
    actions_.push_back(std::move(pending));
    commands = {};
    pending = {};
    returned_bytes = 0;
    return {};
  };
  const auto bring_back = [&](BufferId buffer, Returned returned) {
    const Buffer& it = plan_.buffers[buffer];
    const std::int64_t bytes = padded_bytes(element_count(it.shape) * bits_per_element(it.dtype) / 8, 4);
    if (bytes > 0) {
      Command command;
      command.copy = {static_cast<ObjectId>(locate(buffer).object), bytes, layer_bytes(buffer),
                      returned_bytes};
      command.timed_as = static_cast<std::uint32_t>(pending.nodes.size());
      commands.push_back(command);
    }
    returned.buffer = buffer;
    returned.offset = returned_bytes;
    pending.returned.push_back(returned);
    returned_bytes += padded_bytes(bytes, 8);
  };
  std::size_t seen = 0;
  for (std::size_t n = 0; n < plan_.nodes.size(); ++n) {
    const PlannedNode& node = plan_.nodes[n];
    for (std::size_t i = node.first_step; i < node.end_step; ++i) {
      if (const auto* dispatch = dynamic_cast<const DispatchStep*>(device_steps_[i])) {
        Command command;
        command.dispatch = dispatch->dispatch(*this);
        command.timed_as = static_cast<std::uint32_t>(pending.nodes.size());
        commands.push_back(std::move(command));
        continue;
      }
      const auto* transfer = dynamic_cast<const TransferStep*>(device_steps_[i]);
      if (transfer != nullptr && !transfer->to_device()) {
        bring_back(transfer->conversion().source, {.transfer = transfer});
        continue;
      }
      DRIFTSCOPE_CHECK(submit());
      actions_.push_back(
          {.kind = transfer != nullptr ? Action::Kind::upload : Action::Kind::host_step, .step = i});
    }
    for (const auto& [value, buffer] : node.values)
      if (wants[seen++]) bring_back(buffer, {.value = value});
    if (commands.empty())
      actions_.push_back({.kind = Action::Kind::node_end, .nodes = {n}});
    else
      pending.nodes.push_back(n);
    if (apart || returned_bytes >= max_returned_bytes) DRIFTSCOPE_CHECK(submit());
  }
  // Conversions of outputs that are inputs or constants belong to no node.
  for (std::size_t i = plan_.nodes.empty() ? 0 : plan_.nodes.back().end_step; i < plan_.steps.size(); ++i) {
    if (const auto* transfer = dynamic_cast<const TransferStep*>(device_steps_[i]);
        transfer != nullptr && !transfer->to_device())
      bring_back(transfer->conversion().source, {.transfer = transfer});
    else
      return internal_error("a step that belongs to no node");
  }
  DRIFTSCOPE_CHECK(submit());
  arranged_for_ = std::move(wants);
  arranged_ = true;
  return {};
}

Status GpuSession::upload(const TransferStep& step) {
  const Conversion& conversion = step.conversion();
  const DType held = plan_.buffers[conversion.target].dtype;
  const auto count = static_cast<std::size_t>(element_count(conversion.shape));
  const std::size_t size = element_bytes(held);
  const std::size_t bytes = count * size;
  const std::byte* source = address(conversion.source);
  std::vector<float> numbers;
  if (held != conversion.dtype) {
    numbers.resize(count);
    to_float32(conversion.dtype, {source, count * element_bytes(conversion.dtype)}, numbers);
    source = reinterpret_cast<const std::byte*>(numbers.data());
  }
  const auto target = static_cast<ObjectId>(locate(conversion.target).object);
  if (bytes == 0) return {};
  if (bytes % 4 == 0 && same_order(conversion.shape, conversion.from.layout, conversion.to.layout))
    return device_->write(target, {source, bytes}, layer_bytes(conversion.target));
  std::vector<std::byte> ordered((bytes + 3) / 4 * 4);
  copy_in_order(conversion.shape, size, conversion.from.layout, source, conversion.to.layout, ordered.data());
  return device_->write(target, ordered, layer_bytes(conversion.target));
}

Status GpuSession::run_host_step(std::size_t index) {
  PlannedStep& step = plan_.steps[index];
  if (step.moving) DRIFTSCOPE_CHECK(step.step->bind(*this));
  return step.step->run(*this);
}

Result<bool> GpuSession::perform(const Action& action) {
  const std::int64_t begin = monotonic_ns();
  switch (action.kind) {
    case Action::Kind::upload:
      DRIFTSCOPE_CHECK(upload(static_cast<const TransferStep&>(*device_steps_[action.step])));
      host_ns_ += monotonic_ns() - begin;
      return true;
    case Action::Kind::host_step: try { DRIFTSCOPE_CHECK(run_host_step(action.step));
      } catch (const std::bad_alloc&) {
        return limit_error("out of memory. A smaller batch needs less.");
      }
      host_ns_ += monotonic_ns() - begin;
      return true;
    case Action::Kind::node_end: DRIFTSCOPE_CHECK(end_nodes(action, {}, 0)); return true;
    case Action::Kind::submission: break;
  }
  if (!submitted_) {
    DRIFTSCOPE_CHECK(device_->submit(action.recording));
    submitted_ = true;
    submitted_ns_ = begin;
  }
  Finished finished;
  if (action.waits) {
    DRIFTSCOPE_TRY(auto now, device_->finished(action.recording));
    if (!now) {
      const std::string nodes = action.nodes.empty()
                                    ? "copies"
                                    : fmt::format("{} to {}", label(plan_.nodes[action.nodes.front()]),
                                                  label(plan_.nodes[action.nodes.back()]));
      DRIFTSCOPE_CHECK(still_waits(submitted_ns_, nodes));
      return false;
    }
    finished = *std::move(now);
    DRIFTSCOPE_CHECK(take_returned(action));
  }
  note_time_step(finished);
  submitted_ = false;
  DRIFTSCOPE_CHECK(end_nodes(action, finished, action.waits ? monotonic_ns() - submitted_ns_ : 0));
  return true;
}

// Browsers round timestamps: their step is the largest that divides them all.
void GpuSession::note_time_step(const Finished& finished) {
  for (const std::int64_t time : finished.times_ns) time_step_ns_ = std::gcd(time_step_ns_, time);
  if (time_step_ns_ > 0) ran_.options["timestamp_step"] = fmt::format("{} ns", time_step_ns_);
}

// What host steps read and outputs.
Status GpuSession::take_returned(const Action& action) {
  for (const Returned& it : action.returned) {
    if (it.transfer == nullptr) continue;
    if (calls_ != nullptr && it.transfer->conversion().target == plan_.outputs.front()) note_calls(it);
    DRIFTSCOPE_TRY(const Tensor value, returned_tensor(action, it, it.transfer->conversion().dtype));
    if (value.elements() > 0)
      std::memcpy(address(it.transfer->conversion().target), value.bytes().data(), value.bytes().size());
  }
  return {};
}

// Of the model's first output.
void GpuSession::note_calls(const Returned& answer) {
  const Buffer& buffer = plan_.buffers[answer.buffer];
  if (buffer.dtype != answer.transfer->conversion().dtype) return;  // a report compares what is recorded
  const std::int64_t elements = element_count(buffer.shape);
  const std::int64_t bytes = padded_bytes(elements * bits_per_element(buffer.dtype) / 8, 4);
  const std::vector<std::uint32_t> places = places_of(buffer.shape, buffer.layout);
  ran_.options["calls"] = calls_->text(
      {.copy = {static_cast<ObjectId>(locate(answer.buffer).object), bytes, layer_bytes(answer.buffer), 0},
       .dtype = buffer.dtype,
       .elements = elements,
       .places = places});
}

Result<Tensor> GpuSession::returned_tensor(const Action& action, const Returned& it, DType dtype) const {
  const Buffer& buffer = plan_.buffers[it.buffer];
  if (dtype != buffer.dtype) {
    DRIFTSCOPE_TRY(const Tensor numbers, returned_tensor(action, it, buffer.dtype));
    DRIFTSCOPE_TRY(Tensor integers, Tensor::unwritten(dtype, buffer.shape, "a value of the GPU"));
    from_float32(numbers.values<float>(), dtype, integers.mutable_bytes());
    return integers;
  }
  DRIFTSCOPE_TRY(Tensor value, Tensor::unwritten(buffer.dtype, buffer.shape, "a value of the GPU"));
  if (value.elements() == 0) return value;
  const auto target = value.mutable_bytes();
  if (same_order(buffer.shape, buffer.layout, {})) {
    DRIFTSCOPE_CHECK(device_->read(action.recording, it.offset, target));
    return value;
  }
  std::vector<std::byte> raw(target.size());
  DRIFTSCOPE_CHECK(device_->read(action.recording, it.offset, raw));
  copy_in_order(buffer.shape, element_bytes(buffer.dtype), buffer.layout, raw.data(), {}, target.data());
  return value;
}

Status GpuSession::end_nodes(const Action& action, const Finished& finished, std::int64_t wall_ns) {
  // Without timestamps nobody knows how much of a submission each of its nodes took.
  const bool together = finished.times_ns.empty() && action.nodes.size() != 1;
  if (together && host_ns_ + wall_ns > 0) {
    trace_sink_->unattributed_time(host_ns_ + wall_ns);
    host_ns_ = 0;
  }
  std::size_t returned = 0;
  for (std::size_t i = 0; i < action.nodes.size(); ++i) {
    const PlannedNode& node = plan_.nodes[action.nodes[i]];
    for (const auto& [value, buffer] : node.values) {
      if (!trace_sink_->wants(value)) continue;
      if (plan_.buffers[buffer].space == Space::host) {
        DRIFTSCOPE_TRY(const Tensor seen, tensor(buffer));
        DRIFTSCOPE_CHECK(trace_sink_->value(value, seen));
        continue;
      }
      while (returned < action.returned.size() && action.returned[returned].value != value) ++returned;
      if (returned == action.returned.size())
        return internal_error(fmt::format("{}: a value did not come back", label(node)));
      DRIFTSCOPE_TRY(const Tensor seen, returned_tensor(action, action.returned[returned],
                                                        resources_->graph->values[value].dtype));
      DRIFTSCOPE_CHECK(trace_sink_->value(value, seen));
    }
    const std::int64_t device_ns = finished.times_ns.empty()      ? wall_ns
                                   : i < finished.times_ns.size() ? finished.times_ns[i]
                                                                  : 0;
    if (node.node != no_node && !together)
      trace_sink_->node_done(node.node, std::exchange(host_ns_, 0) + device_ns);
    for (const BufferId dead : node.dead_tensors) tensors_[dead] = Tensor();
    ++nodes_done_;
  }
  return {};
}

std::string_view GpuSession::label(const PlannedNode& node) const {
  return node.node == no_node ? std::string_view("a step between nodes") : labels_[node.node];
}

Result<std::vector<Tensor>> GpuSession::finish() {
  if (trace_sink_ == nullptr || state_ != State::ready || next_ < actions_.size())
    return internal_error("finish before the run was finished");
  std::vector<Tensor> outputs;
  for (const BufferId buffer : plan_.outputs) {
    DRIFTSCOPE_TRY(Tensor output, tensor(buffer));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

std::optional<MemorySample> GpuSession::memory() const {
  return MemorySample{device_->memory(), "gpu_objects"};
}

}  // namespace driftscope::gpu
