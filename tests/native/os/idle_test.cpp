// Waiting for a process that computes, and for one that does not.
#include "native/os/idle.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace driftscope::test::idle_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::int64_t ms_of_waiting() {
  const auto begin = steady_clock::now();
  wait_until_idle({getpid()});
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin).count();
}

TEST_CASE("Idle_ThreadsThatSpin_AreWaitedFor" * doctest::test_suite("posix")) {
  std::atomic<bool> enough = false;
  const std::int64_t before = processor_ns({getpid()});
  // So many that beside other tests they get half a processor together.
  std::vector<std::thread> spinning;
  for (int i = 0; i < 12; ++i)
    spinning.emplace_back([&] {
      while (!enough) continue;
    });
  const std::int64_t waited = ms_of_waiting();
  CHECK(processor_ns({getpid()}) > before);
  enough = true;
  for (std::thread& thread : spinning) thread.join();
  CHECK(waited >= 100);
  CHECK(processor_ns({-1}) == 0);
}

}  // namespace
}  // namespace driftscope::test::idle_test
