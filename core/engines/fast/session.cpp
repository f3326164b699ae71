#include "core/engines/fast/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "core/engines/fast/plain_order.hpp"
#include "core/engines/fast/reorder.hpp"
#include "core/platform/platform.hpp"

namespace driftscope::fast {
namespace {

constexpr std::int64_t min_copy_for_threads = 60'000;  // elements

}  // namespace

Status Resources::make_pool() {
  if (fallback.threads().size() == 1) return {};
  pool_ = pthreadpool_on(fallback.threads());
  if (pool_ == nullptr) return limit_error("engine fast: no memory for its threads");
  return {};
}

FastSession::FastSession(std::unique_ptr<Resources> resources, Plan plan,
                         std::vector<std::string> node_labels, RanWith ran)
    : resources_(std::move(resources)),
      plan_(std::move(plan)),
      labels_(std::move(node_labels)),
      ran_(std::move(ran)),
      tensors_(plan_.buffers.size()) {}

Status FastSession::prepare() {
  DRIFTSCOPE_TRY(arena_, Tensor::make(DType::uint8, {plan_.arena(Space::host)}, "intermediate values"));
  base_ = arena_.mutable_bytes().data();
  for (PlannedStep& step : plan_.steps)
    if (!step.moving) DRIFTSCOPE_CHECK(step.step->bind(*this));
  return {};
}

Location FastSession::locate(BufferId buffer) const {
  const Buffer& root = plan_.buffers[plan_.root(buffer)];
  switch (root.storage) {
    case Storage::constant: return {const_cast<std::byte*>(root.constant.bytes().data())};
    case Storage::arena: return {base_ + root.offset};
    default: return {const_cast<std::byte*>(tensors_[root.root].bytes().data())};
  }
}

Result<Tensor> FastSession::tensor(BufferId id) const {
  const Buffer& buffer = plan_.buffers[id];
  const Buffer& root = plan_.buffers[buffer.root];
  const bool plain = buffer.layout.plain() || same_order(buffer.shape, buffer.layout, {});
  if (moves(root.storage)) {
    const Tensor& whole = tensors_[buffer.root];
    if (id == buffer.root && plain) return whole;
    if (plain) return whole.reshaped(buffer.shape);
  }
  if (root.storage == Storage::constant && plain) return root.constant.reshaped(buffer.shape);
  DRIFTSCOPE_TRY(Tensor copy, Tensor::unwritten(buffer.dtype, buffer.shape, "a copy of a value"));
  if (copy.elements() > 0)
    DRIFTSCOPE_CHECK(reorder(buffer.shape, static_cast<std::size_t>(bits_per_element(buffer.dtype) / 8),
                             buffer.layout, address(id), {}, copy.mutable_bytes().data(),
                             copy.elements() < min_copy_for_threads ? nullptr : resources_->pool()));
  return copy;
}

Status FastSession::start(std::vector<Tensor> inputs, TraceSink& trace_sink) {
  if (inputs.size() != plan_.inputs.size())
    return internal_error(fmt::format("the run was started with {} inputs, the graph has {}", inputs.size(),
                                      plan_.inputs.size()));
  trace_sink_ = &trace_sink;
  next_ = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ValueId id = resources_->graph->inputs[i];
    if (trace_sink.wants(id)) DRIFTSCOPE_CHECK(trace_sink.value(id, inputs[i]));
    tensors_[plan_.inputs[i]] = std::move(inputs[i]);
  }
  return {};
}

Status FastSession::run_node(const PlannedNode& node) {
  for (std::size_t i = node.first_step; i < node.end_step; ++i) {
    PlannedStep& step = plan_.steps[i];
    for (const BufferId id : step.begins) {
      const Buffer& buffer = plan_.buffers[id];
      DRIFTSCOPE_TRY(tensors_[id], Tensor::unwritten(buffer.dtype, buffer.shape, "a value"));
    }
    if (step.moving) DRIFTSCOPE_CHECK(step.step->bind(*this));
    DRIFTSCOPE_CHECK(step.step->run(*this));
  }
  return {};
}

Result<Progress> FastSession::poll(std::int64_t budget_ns) {
  if (trace_sink_ == nullptr) return internal_error("poll before start");
  const std::int64_t begin = monotonic_ns();
  std::int64_t now = begin;
  while (next_ < plan_.nodes.size()) {
    const PlannedNode& node = plan_.nodes[next_];
    try {
      if (auto status = run_node(node); !status.ok())
        return in_context(std::move(status).error(), labels_[next_]);
    } catch (const std::bad_alloc&) {
      return limit_error(labels_[next_] + ": out of memory. A smaller batch needs less.");
    }
    const std::int64_t end = monotonic_ns();
    bool looked = false;
    for (const auto& [value, buffer] : node.values) {
      if (!trace_sink_->wants(value)) continue;
      looked = true;
      DRIFTSCOPE_TRY(const Tensor seen, observed(value, buffer));
      DRIFTSCOPE_CHECK(trace_sink_->value(value, seen));
    }
    if (node.node != no_node) trace_sink_->node_done(node.node, end - now);
    now = looked ? monotonic_ns() : end;
    for (const BufferId dead : node.dead_tensors) tensors_[dead] = Tensor();
    ++next_;
    if (end - begin >= budget_ns) break;
  }
  return Progress{static_cast<std::int64_t>(next_), static_cast<std::int64_t>(plan_.nodes.size())};
}

Result<Tensor> FastSession::observed(ValueId value, BufferId id) const {
  const Buffer& buffer = plan_.buffers[id];
  const auto& outputs = resources_->graph->outputs;
  if (plan_.buffers[buffer.root].storage != Storage::escaping ||
      same_order(buffer.shape, buffer.layout, {}) ||
      std::find(outputs.begin(), outputs.end(), value) != outputs.end())
    return tensor(id);
  const Tensor& whole = tensors_[buffer.root];
  const auto element_bytes = static_cast<std::size_t>(bits_per_element(buffer.dtype) / 8);
  const Blocks blocks = blocks_of(buffer.shape, buffer.layout);
  const ByteSource source{whole.byte_size(),
                          [whole, element_bytes, blocks, turn = turn32(resources_->fallback.simd())](
                              std::uint64_t offset, std::span<std::byte> target) {
                            copy_plain_order(blocks, element_bytes, turn, whole.bytes().data(), offset,
                                             target);
                          },
                          plain_order_grain(blocks, element_bytes)};
  return Tensor::deferred(buffer.dtype, buffer.shape, source, "a value");
}

Result<std::vector<Tensor>> FastSession::finish() {
  if (trace_sink_ == nullptr || next_ < plan_.nodes.size())
    return internal_error("finish before the run was finished");
  std::vector<Tensor> outputs;
  for (const BufferId buffer : plan_.outputs) {
    DRIFTSCOPE_TRY(Tensor output, tensor(buffer));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace driftscope::fast
