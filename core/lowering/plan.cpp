#include "core/lowering/plan.hpp"

#include <algorithm>

#include "core/runtime/memory_plan.hpp"

namespace driftscope::fast {
namespace {

// Reading a little beyond a buffer's end must stay inside the arena (XNN_EXTRA_BYTES is 16).
constexpr std::int64_t tail_bytes = 128;

struct Lifetime {
  std::size_t first = std::numeric_limits<std::size_t>::max();
  std::size_t last = 0;

  [[nodiscard]] bool used() const { return first <= last; }
  void cover(std::size_t step) {
    first = std::min(first, step);
    last = std::max(last, step);
  }
};

// By root. What is handed over after a node lives until its last step, an output to the end.
std::vector<Lifetime> lifetimes(const Plan& plan) {
  std::vector<Lifetime> result(plan.buffers.size());
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    for (const BufferId id : plan.steps[i].reads) result[plan.root(id)].cover(i);
    for (const BufferId id : plan.steps[i].writes) result[plan.root(id)].cover(i);
  }
  for (const PlannedNode& node : plan.nodes)
    for (const auto& [value, id] : node.values)
      if (Lifetime& life = result[plan.root(id)]; life.used())
        life.last = std::max(life.last, node.end_step == 0 ? 0 : node.end_step - 1);
  for (const BufferId id : plan.outputs)
    if (Lifetime& life = result[plan.root(id)]; life.used()) life.last = plan.steps.size();
  return result;
}

// The output takes over the memory of an input that ends with the step that reads it.
void work_in_place(Plan& plan) {
  std::vector<Lifetime> lives = lifetimes(plan);
  // Roots that were taken over have a root in turn; a long chain of them is followed once.
  const auto root_of = [&](BufferId id) {
    while (plan.root(id) != id) {
      plan.buffers[id].root = plan.root(plan.root(id));
      id = plan.root(id);
    }
    return id;
  };
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    PlannedStep& step = plan.steps[i];
    if (step.in_place == no_buffer) continue;
    const BufferId from = root_of(step.in_place);
    const BufferId to = root_of(step.writes[0]);
    const auto in_arena = [&](BufferId root) { return plan.buffers[root].storage == Storage::arena; };
    if (!in_arena(from) || !in_arena(to) || from == to || lives[from].last != i || lives[to].first != i ||
        plan.buffers[from].bytes < plan.buffers[to].bytes)
      continue;
    lives[from].last = std::max(lives[from].last, lives[to].last);
    plan.buffers[to].root = from;
  }
  for (BufferId id = 0; id < plan.buffers.size(); ++id) plan.buffers[id].root = root_of(id);
}

// Values that are handed over are the memory of who keeps them.
void leave_arena(Plan& plan) {
  for (const PlannedNode& node : plan.nodes)
    for (const auto& [value, id] : node.values)
      if (Buffer& root = plan.buffers[plan.root(id)]; root.storage == Storage::arena)
        root.storage = Storage::escaping;
}

// A slot is released by the last node that reads, makes or hands it over, unless it is an output.
void release_slots(Plan& plan) {
  constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> last(plan.buffers.size(), never);
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const PlannedNode& node = plan.nodes[n];
    for (std::size_t i = node.first_step; i < node.end_step; ++i) {
      for (const BufferId id : plan.steps[i].reads) last[plan.root(id)] = n;
      for (const BufferId id : plan.steps[i].writes) last[plan.root(id)] = n;
    }
    for (const auto& [value, id] : node.values) last[plan.root(id)] = n;
  }
  for (const BufferId id : plan.outputs) last[plan.root(id)] = never;
  for (BufferId id = 0; id < plan.buffers.size(); ++id)
    if (moves(plan.buffers[id].storage) && plan.buffers[id].storage != Storage::input &&
        plan.root(id) == id && last[id] != never)
      plan.nodes[last[id]].dead_slots.push_back(id);
}

}  // namespace

void assign_memory(Plan& plan, bool hand_over) {
  if (hand_over) leave_arena(plan);
  work_in_place(plan);
  const std::vector<Lifetime> lives = lifetimes(plan);
  std::vector<MemoryRequest> requests;
  std::vector<BufferId> owners;
  for (BufferId id = 0; id < plan.buffers.size(); ++id) {
    const Buffer& buffer = plan.buffers[id];
    if (buffer.root != id || !lives[id].used()) continue;
    if (buffer.storage == Storage::escaping) plan.steps[lives[id].first].begins.push_back(id);
    if (buffer.storage != Storage::arena) continue;
    requests.push_back({buffer.bytes, lives[id].first, lives[id].last});
    owners.push_back(id);
  }
  const MemoryPlan places = plan_memory(requests);
  for (std::size_t i = 0; i < owners.size(); ++i) plan.buffers[owners[i]].offset = places.offsets[i];
  plan.arena_bytes = places.bytes + tail_bytes;

  for (PlannedStep& step : plan.steps) {
    const auto elsewhere = [&](BufferId id) { return moves(plan.buffers[plan.root(id)].storage); };
    step.moving = std::any_of(step.reads.begin(), step.reads.end(), elsewhere) ||
                  std::any_of(step.writes.begin(), step.writes.end(), elsewhere);
  }
  release_slots(plan);
}

}  // namespace driftscope::fast
