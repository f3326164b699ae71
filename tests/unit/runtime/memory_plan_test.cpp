#include "core/runtime/memory_plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/rng.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::memory_plan_test {
namespace {

std::int64_t rounded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

// The largest total alive at once: a lower limit for any plan.
std::int64_t lower_bound(const std::vector<MemoryRequest>& requests, std::size_t steps) {
  std::int64_t peak = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    std::int64_t alive = 0;
    for (const MemoryRequest& request : requests)
      if (request.first <= step && step <= request.last) alive += rounded(request.bytes);
    peak = std::max(peak, alive);
  }
  return peak;
}

}  // namespace

TEST_CASE("MemoryPlan_ChainOfBuffers_NeedsTheLargestPair") {
  // Each is made by one step and read by the next.
  const std::vector<MemoryRequest> chain = {{1000, 0, 1}, {3000, 1, 2}, {2000, 2, 3}, {500, 3, 4}};
  const MemoryPlan plan = plan_memory(chain);
  CHECK(plan.bytes == rounded(3000) + rounded(2000));
}

TEST_CASE("MemoryPlan_LongChainWithALongLife_NeedsAllThatIsAlive") {
  // 50,000 steps, and one buffer that is alive from the first to the last.
  std::vector<MemoryRequest> chain = {{640, 0, 50'000}};
  for (std::size_t i = 0; i < 50'000; ++i)
    chain.push_back({static_cast<std::int64_t>(i % 2 == 0 ? 1024 : 512), i, i + 1});
  const MemoryPlan plan = plan_memory(chain);
  CHECK(plan.bytes == 640 + 1024 + 512);
}

TEST_CASE("MemoryPlan_GapBetweenTwo_IsFilledByTheTightest") {
  // The first four are placed one after another; the first and the third leave gaps before the fifth comes.
  const std::vector<MemoryRequest> requests = {
      {4096, 0, 0}, {2048, 0, 9}, {1088, 0, 0}, {1024, 0, 9}, {1000, 1, 2}};
  const MemoryPlan plan = plan_memory(requests);
  CHECK(plan.bytes == 4096 + 2048 + 1088 + 1024);
  CHECK(plan.offsets[4] == plan.offsets[2]);
}

TEST_CASE("MemoryPlan_NothingOrEmptyBuffers_NeedsNoMemory") {
  CHECK(plan_memory({}).bytes == 0);
  const std::vector<MemoryRequest> empty = {{0, 0, 3}, {0, 1, 2}};
  CHECK(plan_memory(empty).bytes == 0);
}

TEST_CASE("MemoryPlan_RandomLifetimes_NoTwoLiveBuffersOverlap") {
  const std::uint64_t first = test_seed(20261121);
  SEED_INFO(first);
  for (std::uint64_t seed = first; seed < first + repetitions(200); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const std::size_t steps = 1 + rng.below(40);
    std::vector<MemoryRequest> requests(1 + rng.below(60));
    for (MemoryRequest& request : requests) {
      request.bytes = static_cast<std::int64_t>(rng.below(rng.below(4) == 0 ? 100000 : 700));
      request.first = rng.below(static_cast<std::uint32_t>(steps));
      request.last = request.first + rng.below(static_cast<std::uint32_t>(steps - request.first));
    }
    const MemoryPlan plan = plan_memory(requests);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      CHECK(plan.offsets[i] % 64 == 0);
      CHECK(plan.offsets[i] + requests[i].bytes <= plan.bytes);
      for (std::size_t j = 0; j < i; ++j) {
        const MemoryRequest& a = requests[i];
        const MemoryRequest& b = requests[j];
        if (a.last < b.first || b.last < a.first || a.bytes == 0 || b.bytes == 0) continue;
        CHECK((plan.offsets[i] + a.bytes <= plan.offsets[j] || plan.offsets[j] + b.bytes <= plan.offsets[i]));
      }
    }
    CHECK(plan.bytes >= lower_bound(requests, steps));
  }
}

}  // namespace driftscope::test::memory_plan_test
