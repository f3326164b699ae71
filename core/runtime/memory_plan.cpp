// Compiled for size on the web (cmake/core.cmake).
#include "core/runtime/memory_plan.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace driftscope {
namespace {

bool alive_together(const MemoryRequest& a, const MemoryRequest& b) {
  return a.first <= b.last && b.first <= a.last;
}

/// Placed buffers, indexed by lifetime: most live for a few steps, so even in a large network only
/// nearby ones need to be considered.
class Placed {
 public:
  explicit Placed(std::span<const MemoryRequest> requests) : requests_(requests) {
    std::size_t last = 0;
    for (const MemoryRequest& request : requests) last = std::max(last, request.last);
    steps_ = last / max_blocks + 1;
    blocks_.resize(last / steps_ + 1);
  }

  void add(std::size_t place) {
    const auto [first, last] = blocks_of(place);
    if (last - first >= few_blocks) return long_lived_.push_back(place);
    for (std::size_t block = first; block <= last; ++block) blocks_[block].push_back(place);
  }

  /// Buffers alive at the same time as a request, some of them repeated.
  void alive_with(std::size_t place, std::vector<std::size_t>& found) const {
    found.clear();
    const auto look = [&](const std::vector<std::size_t>& list) {
      for (const std::size_t other : list)
        if (alive_together(requests_[place], requests_[other])) found.push_back(other);
    };
    look(long_lived_);
    const auto [first, last] = blocks_of(place);
    for (std::size_t block = first; block <= last; ++block) look(blocks_[block]);
  }

 private:
  static constexpr std::size_t max_blocks = 4096;
  static constexpr std::size_t few_blocks = 8;

  [[nodiscard]] std::pair<std::size_t, std::size_t> blocks_of(std::size_t place) const {
    return {requests_[place].first / steps_, requests_[place].last / steps_};
  }

  std::span<const MemoryRequest> requests_;
  std::size_t steps_ = 1;  // of a block
  std::vector<std::vector<std::size_t>> blocks_;
  std::vector<std::size_t> long_lived_;
};

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
  Placed placed(requests);
  std::vector<std::size_t> others;
  for (const std::size_t i : order) {
    const std::int64_t size = rounded(requests[i].bytes);
    if (size == 0) continue;
    std::int64_t end = 0;  // end of the memory used before the gap
    std::int64_t best = -1;
    std::int64_t best_gap = std::numeric_limits<std::int64_t>::max();
    placed.alive_with(i, others);
    std::sort(others.begin(), others.end(),
              [&](std::size_t a, std::size_t b) { return plan.offsets[a] < plan.offsets[b]; });
    for (const std::size_t other : others) {
      const std::int64_t gap = plan.offsets[other] - end;
      if (gap >= size && gap < best_gap) {
        best = end;
        best_gap = gap;
      }
      end = std::max(end, plan.offsets[other] + rounded(requests[other].bytes));
    }
    plan.offsets[i] = best >= 0 ? best : end;
    plan.bytes = std::max(plan.bytes, plan.offsets[i] + size);
    placed.add(i);
  }
  return plan;
}

}  // namespace driftscope
