// Compiled for size on the web (cmake/core.cmake).
#include "core/lowering/plan.hpp"

#include <algorithm>
#include <limits>

#include "core/runtime/memory_plan.hpp"

namespace driftscope::lowering {
namespace {

struct Lifetime {
  std::size_t first = std::numeric_limits<std::size_t>::max();
  std::size_t last = 0;

  [[nodiscard]] bool used() const { return first <= last; }
  void cover(std::size_t step) {
    first = std::min(first, step);
    last = std::max(last, step);
  }
};

// By root. A value passed on after a node lives until the node's last step, an output to the end.
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

// The output takes over the memory of an input whose last use is the step that reads it.
void work_in_place(Plan& plan) {
  std::vector<Lifetime> lives = lifetimes(plan);
  // Roots that were taken over have roots in turn; path compression keeps long chains cheap.
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
        plan.buffers[from].space != plan.buffers[to].space ||
        plan.buffers[from].bytes < plan.buffers[to].bytes)
      continue;
    lives[from].last = std::max(lives[from].last, lives[to].last);
    plan.buffers[to].root = from;
  }
  for (BufferId id = 0; id < plan.buffers.size(); ++id) plan.buffers[id].root = root_of(id);
}

// Values that are passed on belong to their receiver: they need memory outside the arena.
void leave_arena(Plan& plan) {
  for (const PlannedNode& node : plan.nodes)
    for (const auto& [value, id] : node.values)
      if (Buffer& root = plan.buffers[plan.root(id)];
          root.storage == Storage::arena && root.space == Space::host)
        root.storage = Storage::escaping;
}

// A tensor of the run is released after the last node that reads, makes or passes it on, unless it is an
// output.
void release_tensors(Plan& plan) {
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
      plan.nodes[last[id]].dead_tensors.push_back(id);
}

std::vector<BufferId> roots_in_arena(const Plan& plan, const std::vector<Lifetime>& lives, Space space) {
  std::vector<BufferId> roots;
  for (BufferId id = 0; id < plan.buffers.size(); ++id) {
    const Buffer& buffer = plan.buffers[id];
    if (buffer.root == id && lives[id].used() && buffer.storage == Storage::arena && buffer.space == space)
      roots.push_back(id);
  }
  return roots;
}

void place_in_arena(Plan& plan, const std::vector<Lifetime>& lives, Space space, const MemoryRules& rules) {
  std::vector<MemoryRequest> requests;
  const std::vector<BufferId> roots = roots_in_arena(plan, lives, space);
  for (const BufferId id : roots)
    requests.push_back({plan.buffers[id].bytes, lives[id].first, lives[id].last});
  const MemoryPlan places = plan_memory(requests, rules.alignment);
  for (std::size_t i = 0; i < roots.size(); ++i) plan.buffers[roots[i]].offset = places.offsets[i];
  plan.arena_bytes[static_cast<std::size_t>(space)] = places.bytes + rules.tail_bytes;
}

// The smallest free object that is large enough, else the largest one, which becomes larger.
std::size_t free_object(const Plan& plan, const std::vector<std::size_t>& last_use, std::size_t step,
                        std::uint64_t bytes) {
  const std::size_t none = plan.objects.size();
  std::size_t best = none;
  for (std::size_t i = 0; i < none; ++i) {
    if (last_use[i] >= step) continue;
    const bool fits = plan.objects[i] >= bytes;
    const bool best_fits = best != none && plan.objects[best] >= bytes;
    if (best == none || (fits != best_fits ? fits : (plan.objects[i] < plan.objects[best]) == fits)) best = i;
  }
  return best;
}

// Each takes the object of its kind that has been free for the shortest time.
void place_in_objects(Plan& plan, const std::vector<Lifetime>& lives, Space space, const MemoryRules& rules) {
  std::vector<BufferId> roots = roots_in_arena(plan, lives, space);
  std::sort(roots.begin(), roots.end(), [&](BufferId a, BufferId b) {
    return std::pair(lives[a].first, a) < std::pair(lives[b].first, b);
  });
  std::vector<std::size_t> last_use(plan.objects.size());
  for (const BufferId id : roots) {
    Buffer& buffer = plan.buffers[id];
    std::size_t best = plan.objects.size();
    if (rules.kinds_are_bytes) {
      best = free_object(plan, last_use, lives[id].first, buffer.object_kind);
      if (best < plan.objects.size()) plan.objects[best] = std::max(plan.objects[best], buffer.object_kind);
    }
    for (std::size_t i = 0; !rules.kinds_are_bytes && i < plan.objects.size(); ++i)
      if (plan.objects[i] == buffer.object_kind && last_use[i] < lives[id].first &&
          (best == plan.objects.size() || last_use[i] > last_use[best]))
        best = i;
    if (best == plan.objects.size()) {
      plan.objects.push_back(buffer.object_kind);
      last_use.push_back(0);
    }
    buffer.object = static_cast<std::uint32_t>(best);
    last_use[best] = lives[id].last;
  }
}

}  // namespace

void assign_memory(Plan& plan, bool hand_over, const std::array<MemoryRules, spaces>& rules) {
  if (hand_over) leave_arena(plan);
  work_in_place(plan);
  const std::vector<Lifetime> lives = lifetimes(plan);
  for (const Space space : {Space::host, Space::device}) {
    const MemoryRules& here = rules[static_cast<std::size_t>(space)];
    if (here.whole_objects)
      place_in_objects(plan, lives, space, here);
    else
      place_in_arena(plan, lives, space, here);
  }
  for (BufferId id = 0; id < plan.buffers.size(); ++id)
    if (plan.buffers[id].storage == Storage::escaping && plan.root(id) == id && lives[id].used())
      plan.steps[lives[id].first].begins.push_back(id);

  for (PlannedStep& step : plan.steps) {
    const auto elsewhere = [&](BufferId id) { return moves(plan.buffers[plan.root(id)].storage); };
    step.moving = std::any_of(step.reads.begin(), step.reads.end(), elsewhere) ||
                  std::any_of(step.writes.begin(), step.writes.end(), elsewhere);
  }
  release_tensors(plan);
}

}  // namespace driftscope::lowering
