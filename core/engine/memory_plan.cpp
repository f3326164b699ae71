#include "core/engine/memory_plan.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace driftscope {
namespace {

bool alive_together(const MemoryRequest& a, const MemoryRequest& b) {
  return a.first <= b.last && b.first <= a.last;
}

}  // namespace

MemoryPlan plan_memory(std::span<const MemoryRequest> requests, std::int64_t alignment) {
  const auto rounded = [&](std::int64_t bytes) { return (bytes + alignment - 1) & -alignment; };
  MemoryPlan plan;
  plan.offsets.assign(requests.size(), 0);
  std::vector<std::size_t> order(requests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Not std::stable_sort: Clang warns of what libstdc++ does in it.
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return requests[a].bytes != requests[b].bytes ? requests[a].bytes > requests[b].bytes : a < b;
  });
  std::vector<std::size_t> placed;  // by offset
  for (const std::size_t i : order) {
    const std::int64_t size = rounded(requests[i].bytes);
    if (size == 0) continue;
    std::int64_t end = 0;  // of what lies before the gap
    std::int64_t best = -1;
    std::int64_t best_gap = std::numeric_limits<std::int64_t>::max();
    for (const std::size_t other : placed) {
      if (!alive_together(requests[i], requests[other])) continue;
      const std::int64_t gap = plan.offsets[other] - end;
      if (gap >= size && gap < best_gap) {
        best = end;
        best_gap = gap;
      }
      end = std::max(end, plan.offsets[other] + rounded(requests[other].bytes));
    }
    plan.offsets[i] = best >= 0 ? best : end;
    plan.bytes = std::max(plan.bytes, plan.offsets[i] + size);
    const auto place =
        std::upper_bound(placed.begin(), placed.end(), plan.offsets[i],
                         [&](std::int64_t offset, std::size_t j) { return offset < plan.offsets[j]; });
    placed.insert(place, i);
  }
  return plan;
}

}  // namespace driftscope
