#include "core/bench/memory_growth.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/base/rng.hpp"
#include "tests/unit/support/mutate.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::memory_growth_test {
namespace {

using doctest::Approx;

/// 40 samples, five runs apart, of `bytes(run)`.
template <class Bytes>
MemorySeries sampled(bool exact, const Bytes& bytes) {
  MemorySeries series{"process_pss", exact};
  for (int i = 1; i <= 40; ++i) {
    series.runs.push_back(5.0 * i);
    series.bytes.push_back(bytes(5.0 * i));
  }
  return series;
}

constexpr double megabyte = 1e6;

}  // namespace

TEST_CASE("MemoryGrowth_ExactLeak_Grows_HoweverSmall") {
  const MemorySeries series = sampled(true, [](double run) { return 50 * megabyte + 64.0 * run; });
  const GrowthEstimate estimate = estimate_growth(series);
  CHECK(estimate.growth == Growth::grows);
  CHECK(estimate.per_run.value == Approx(64.0));
  CHECK(growth_is_decided(std::vector{series}));
}

TEST_CASE("MemoryGrowth_Constant_IsFlat_TooFewSamples_AreUnclear") {
  const MemorySeries series = sampled(true, [](double /*run*/) { return 50 * megabyte; });
  CHECK(estimate_growth(series).growth == Growth::flat);
  MemorySeries few = series;
  few.runs.resize(10);
  few.bytes.resize(10);
  CHECK(estimate_growth(few).growth == Growth::unclear);
  CHECK_FALSE(growth_is_decided(std::vector{few}));
  CHECK(estimate_growth({}).growth == Growth::unclear);
}

TEST_CASE("MemoryGrowth_WarmUpAndOneStep_AreNoLeak") {
  const MemorySeries warm = sampled(true, [](double run) { return 50 * megabyte + (run > 40 ? 9e6 : 0.0); });
  CHECK(estimate_growth(warm).growth == Growth::flat);
  const MemorySeries step = sampled(true, [](double run) { return 50 * megabyte + (run > 120 ? 9e6 : 0.0); });
  CHECK(estimate_growth(step).growth != Growth::grows);
  // A cache that is filled slowly: only the second half shows that it ends.
  const MemorySeries cache =
      sampled(true, [](double run) { return 50 * megabyte + 1000.0 * std::min(run, 140.0); });
  CHECK(estimate_growth(cache).growth == Growth::unclear);
}

TEST_CASE("MemoryGrowth_CollectorsSawtooth_IsNoLeak") {
  const MemorySeries series =
      sampled(false, [](double run) { return 300 * megabyte + 40e3 * std::fmod(run, 45.0); });
  CHECK(estimate_growth(series).growth != Growth::grows);
}

TEST_CASE("MemoryGrowth_GarbageOfABrowser_IsUnclear_UntilMoreComesTogetherThanCollectorsLeave") {
  // As of Chromium with ONNX Runtime Web: 500 kB per 100 runs, which are not collected yet.
  MemorySeries garbage = sampled(false, [](double run) { return 530 * megabyte + 5e3 * 20 * run; });
  garbage.kind = "process_tree_pss";
  CHECK(estimate_growth(garbage).growth == Growth::unclear);
  MemorySeries leak = sampled(false, [](double run) { return 530 * megabyte + megabyte * run; });
  leak.kind = "process_tree_pss";
  CHECK(estimate_growth(leak).growth == Growth::grows);
}

TEST_CASE("MemoryGrowth_OfAProcessThatServesOthers_IsUnclear_UntilConnectionsDoNotExplainIt") {
  MemorySeries connections = sampled(false, [](double run) { return 2 * megabyte + 500.0 * run; });
  CHECK(estimate_growth(connections).growth == Growth::grows);
  connections.kind = shared_memory_kind("heap_in_use");
  CHECK(estimate_growth(connections).growth == Growth::unclear);
  MemorySeries leak = sampled(false, [](double run) { return 2 * megabyte + 262144.0 * run; });
  leak.kind = shared_memory_kind("heap_in_use");
  CHECK(estimate_growth(leak).growth == Growth::grows);
  CHECK(memory_kind_text(leak.kind) == "heap in use of a process that serves others");
}

TEST_CASE("MemoryGrowth_NoiseOfProcesses_RaisesNoAlarm_LeaksAreFound") {
  const std::uint64_t seed = test_seed(31);
  SEED_INFO(seed);
  Rng rng(seed);
  int alarms = 0;
  int found = 0;
  const int trials = repetitions(200);
  for (int trial = 0; trial < trials; ++trial) {
    // A random walk with steps of pages, as of a browser's processes: samples depend on each other.
    double walk = 0.0;
    const auto noise = [&](double /*run*/) {
      walk += 30e3 * static_cast<double>(rng.normal());
      return 400 * megabyte + walk + 200e3 * static_cast<double>(rng.normal());
    };
    const MemorySeries clean = sampled(false, noise);
    alarms += estimate_growth(clean).growth == Growth::grows ? 1 : 0;
    MemorySeries leaking = clean;
    for (std::size_t i = 0; i < leaking.runs.size(); ++i) leaking.bytes[i] += 100e3 * leaking.runs[i];
    found += estimate_growth(leaking).growth == Growth::grows ? 1 : 0;
  }
  CHECK(alarms == 0);
  CHECK(found == trials);
}

TEST_CASE("MemoryGrowth_InATrace_IsReadAgain") {
  MemoryOverRuns memory;
  memory.runs = 200;
  memory.end = MemoryEnd::decided;
  memory.series.push_back(sampled(true, [](double run) { return 1e6 + 262144.0 * run; }));
  memory.series.back().kind = "heap_in_use";
  memory.series.push_back(sampled(false, [](double /*run*/) { return 4e8; }));
  CHECK(growth_of(memory) == Growth::grows);
  CHECK(
      memory_over_runs_text(memory) ==
      "memory over 200 runs: grows; heap in use grows, +262 kB per run (+262 kB to +262 kB); process flat, 0 "
      "B per run (0 B to 0 B)");
  Trace trace;
  CHECK_FALSE(memory_over_runs_of(trace));
  add_memory_over_runs(trace, memory);
  const auto read = memory_over_runs_of(trace);
  REQUIRE(read);
  CHECK(read->runs == 200);
  CHECK(read->end == MemoryEnd::decided);
  CHECK(memory_over_runs_text(*read) == memory_over_runs_text(memory));
}

// A double holds each as the integer that it was.
TEST_CASE("MemoryGrowth_CountsThatCannotBe_AreNotRead") {
  constexpr double most = 9007199254740992.0;  // 2^53
  const auto is_read = [](double runs, double bytes) {
    MemoryOverRuns memory;
    memory.runs = 2;
    memory.series.push_back({"heap_in_use", true, {runs, runs + 2.0}, {bytes, 1e6}});
    Trace trace;
    add_memory_over_runs(trace, memory);
    return memory_over_runs_of(trace).has_value();
  };
  CHECK(is_read(0.0, 0.0));
  CHECK(is_read(most - 2.0, most));
  CHECK_FALSE(is_read(-1.0, 1e6));
  CHECK_FALSE(is_read(most, 1e6));
  CHECK_FALSE(is_read(1.0, -1.0));
  CHECK_FALSE(is_read(1.0, most + 2.0));
  Trace trace;
  add_memory_over_runs(trace, {.runs = -1});
  CHECK_FALSE(memory_over_runs_of(trace));
  // The nearest double of the largest integer is beyond it.
  trace.run =
      R"({"memory_runs":{"runs":2,"stopped":"runs","verdict":"flat","text":"","kinds":[{"kind":"heap_in_use",
      "exact":true,"verdict":"flat","bytes_per_run":0,"low":0,"high":0,"samples":[[1,1000]]}]}})";
  REQUIRE(memory_over_runs_of(trace));
  trace.run.replace(trace.run.find("1000"), 4, "9223372036854775807");
  CHECK_FALSE(memory_over_runs_of(trace));
}

TEST_CASE("MemoryGrowth_DamagedDescriptions_NeverHurt") {
  MemoryOverRuns memory;
  memory.runs = 200;
  memory.series.push_back(sampled(true, [](double run) { return 1e6 + 100.0 * run; }));
  Trace trace;
  add_memory_over_runs(trace, memory);
  const auto text = std::as_bytes(std::span(trace.run));
  const std::uint64_t seed = test_seed(32);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int i = 0; i < repetitions(5000); ++i) {
    const auto damaged = mutated({text.begin(), text.end()}, rng);
    Trace other;
    other.run.assign(reinterpret_cast<const char*>(damaged.data()), damaged.size());
    if (const auto read = memory_over_runs_of(other)) CHECK_FALSE(memory_over_runs_text(*read).empty());
  }
}

}  // namespace driftscope::test::memory_growth_test
