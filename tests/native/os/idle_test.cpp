// Waiting for a process that computes, and for one that does not.
#include "native/os/idle.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace driftscope::test::idle_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::int64_t ms_of_waiting() {
  const auto begin = steady_clock::now();
  wait_until_idle({getpid()});
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin).count();
}

TEST_CASE("Idle_ThreadThatSpins_IsWaitedFor" * doctest::test_suite("posix")) {
  std::atomic<bool> enough = false;
  const std::int64_t before = processor_ns({getpid()});
  std::thread spinning([&] {
    while (!enough) continue;
  });
  const std::int64_t waited = ms_of_waiting();
  CHECK(processor_ns({getpid()}) > before);
  enough = true;
  spinning.join();
  CHECK(waited >= 100);
  CHECK(processor_ns({-1}) == 0);
}

}  // namespace
}  // namespace driftscope::test::idle_test
