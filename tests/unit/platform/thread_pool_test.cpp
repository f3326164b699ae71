// ThreadPool: every item once, for all sizes, even if loops follow one another immediately.
#include <doctest/doctest.h>

#include <atomic>
#include <new>
#include <vector>

#include "core/base/rng.hpp"
#include "core/platform/platform.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::thread_pool_test {
namespace {

struct Ranges {
  std::vector<std::atomic<int>> visits;
  std::atomic<std::int64_t> shortest;  // of all ranges but the last
  explicit Ranges(std::int64_t count) : visits(static_cast<std::size_t>(count)), shortest(count) {}
};

void visit(ThreadPool& threads, std::int64_t count, std::int64_t grain) {
  Ranges seen(count);
  threads.parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) ++seen.visits[static_cast<std::size_t>(i)];
    if (end == count) return;
    std::int64_t shortest = seen.shortest;
    while (end - begin < shortest && !seen.shortest.compare_exchange_weak(shortest, end - begin)) {
    }
  });
  std::int64_t wrong = 0;
  for (const auto& visits : seen.visits) wrong += visits == 1 ? 0 : 1;
  CHECK(wrong == 0);
  CHECK(seen.shortest >= std::min(count, grain));
}

TEST_CASE("ThreadPool_RandomLoops_VisitEveryItemOnce") {
  const std::uint64_t seed = test_seed(101);
  SEED_INFO(seed);
  Rng rng(seed);
  for (const int size : {1, 2, 3, 7}) {
    ThreadPool threads(size);
    CHECK(threads.size() == (threads_available() ? size : 1));
    for (int i = 0; i < repetitions(300); ++i)
      visit(threads, static_cast<std::int64_t>(rng.below(200)), static_cast<std::int64_t>(1 + rng.below(20)));
  }
}

// Loops in quick succession find the threads spinning; after a pause they sleep.
TEST_CASE("ThreadPool_LoopsAfterPauses_AreDoneAsWell") {
  ThreadPool threads(4);
  for (int round = 0; round < repetitions(40); ++round) {
    for (int i = 0; i < 20; ++i) visit(threads, 16, 1);
    const std::int64_t begin = monotonic_ns();
    while (monotonic_ns() - begin < 300'000) {
    }
  }
}

TEST_CASE("ThreadPool_BodyWithoutMemory_IsAnExceptionOfTheCallerOnceAllHaveEnded") {
  for (const int size : {1, 3}) {
    ThreadPool threads(size);
    for (int round = 0; round < repetitions(20); ++round) {
      std::atomic<int> inside = 0;
      CHECK_THROWS_AS(threads.parallel_for(64, 1,
                                           [&](std::int64_t begin, std::int64_t) {
                                             ++inside;
                                             const std::int64_t start = monotonic_ns();
                                             while (monotonic_ns() - start < 10'000) {
                                             }
                                             --inside;
                                             if (begin % 3 == 0) throw std::bad_alloc();
                                           }),
                      std::bad_alloc);
      CHECK(inside == 0);
      CHECK_THROWS_AS(threads.parallel_steps(threads.size(), 8,
                                             [](int part, std::int64_t step) {
                                               if (part == 0 && step == 3) throw std::bad_alloc();
                                             }),
                      std::bad_alloc);
      visit(threads, 64, 1);  // the pool goes on
    }
  }
}

TEST_CASE("ThreadPool_BodyThatTakesLong_IsWaitedFor") {
  ThreadPool threads(2);
  std::atomic<int> done = 0;
  threads.parallel_for(2, 1, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t start = monotonic_ns();
    while (begin == 1 && monotonic_ns() - start < 5'000'000) {
    }
    done += static_cast<int>(end - begin);
  });
  CHECK(done == 2);
}

// A part of a step sees the writes of all parts of the previous step.
TEST_CASE("ThreadPool_Steps_WaitForTheWholeStepBefore") {
  for (const int size : {1, 2, 3, 7}) {
    CAPTURE(size);
    ThreadPool threads(size);
    for (int round = 0; round < repetitions(20); ++round) {
      const int parts = 1 + round % threads.size();
      const std::int64_t steps = round % 4 * 50;
      std::vector<std::int64_t> sums(static_cast<std::size_t>(2 * parts), 1);  // in turns
      std::atomic<int> wrong = 0;
      threads.parallel_steps(parts, steps, [&](int part, std::int64_t step) {
        const auto at = [&](std::int64_t turn, int i) -> std::int64_t& {
          return sums[static_cast<std::size_t>(turn % 2 * parts + i)];
        };
        for (int i = 0; i < parts; ++i) wrong += at(step, i) == step + 1 ? 0 : 1;
        at(step + 1, part) = step + 2;
      });
      CHECK(wrong == 0);
      CHECK(sums[static_cast<std::size_t>(steps % 2 * parts)] == steps + 1);
    }
  }
}

TEST_CASE("ThreadPool_NoItems_CallsNothing") {
  ThreadPool threads(3);
  threads.parallel_for(0, 1, [](std::int64_t, std::int64_t) { CHECK(false); });
}

}  // namespace
}  // namespace driftscope::test::thread_pool_test
