// Where buffers of known lifetimes lie in one arena, so that those that are never alive together share
// memory. Clients: engines that plan their memory before a run. It allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace driftscope {

/// A buffer that must stay intact from step `first` to step `last`, both included.
struct MemoryRequest {
  std::int64_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

struct MemoryPlan {
  std::vector<std::int64_t> offsets;  ///< in the order of the requests, multiples of the alignment
  std::int64_t bytes = 0;             ///< of the whole arena
};

/// Greedy by size (Pisarchyk and Lee 2020, "Efficient Memory Management for Deep Neural Net
/// Inference"): the largest buffer first, each into the smallest gap that holds it between buffers
/// alive at the same time, else after them. `alignment` is a power of two. The sum of all bytes,
/// rounded up, must fit into 63 bits.
[[nodiscard]] MemoryPlan plan_memory(std::span<const MemoryRequest> requests, std::int64_t alignment = 64);

}  // namespace driftscope
