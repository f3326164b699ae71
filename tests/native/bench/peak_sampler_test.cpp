// Memory is sampled while requested, not longer, and in a small part of the time.
#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "native/bench/peak_sampler.hpp"

namespace driftscope::test::peak_sampler_test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

void wait_for(const std::atomic<int>& reads, int count) {
  const auto deadline = Clock::now() + std::chrono::seconds(20);
  while (reads < count && Clock::now() < deadline) std::this_thread::sleep_for(milliseconds(5));
}

}  // namespace

TEST_CASE("PeakSampler_ReadsWhileItWatches_NotLonger") {
  std::atomic<int> reads = 0;
  PeakSampler sampler([&]() -> std::int64_t { return ++reads; });
  {
    const PeakSampler::Watch watch(sampler, true);
    wait_for(reads, 3);
  }
  const int until_then = reads;
  CHECK(until_then >= 3);
  CHECK(sampler.peak() == until_then);
  std::this_thread::sleep_for(milliseconds(200));
  CHECK(reads == until_then);
  {
    const PeakSampler::Watch watch(sampler, false);
    std::this_thread::sleep_for(milliseconds(200));
  }
  CHECK(reads == until_then);
}

TEST_CASE("PeakSampler_SlowReadings_TakeAFifthOfTheTime") {
  constexpr milliseconds reading{40};
  std::atomic<int> reads = 0;
  PeakSampler sampler([&]() -> std::int64_t {
    std::this_thread::sleep_for(reading);
    return ++reads;
  });
  const auto begin = Clock::now();
  {
    const PeakSampler::Watch watch(sampler, true);
    wait_for(reads, 4);
  }
  CHECK((reads - 1) * 5 * reading <= Clock::now() - begin);
}

}  // namespace driftscope::test::peak_sampler_test
