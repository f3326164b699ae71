// The decisions of a bench, with subjects that compute nothing and invent their times.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "core/base/rng.hpp"
#include "core/bench/bench_report.hpp"

namespace driftscope::test::bench_run_test {
namespace {

using doctest::Approx;

/// The time of each run is `time_of` its number.
class Invented final : public BenchSubject {
 public:
  Invented(std::string name, std::string& log, std::function<double(std::int64_t)> time_of,
           double clock = 1.0)
      : name_(std::move(name)), log_(log), time_of_(std::move(time_of)), clock_(clock) {}

  [[nodiscard]] double clock_ns() const override { return clock_; }

  [[nodiscard]] Result<Slice> measure(const SliceRequest& request) override {
    if (!request.warm_up) log_ += name_;
    if (fail_at >= 0 && runs >= fail_at) return io_error("the subject is gone");
    Slice slice;
    double used = 0.0;
    std::int64_t done = 0;
    do {
      double reading = 0.0;
      for (std::int64_t i = 0; i < request.inner; ++i) reading += time_of_(runs++);
      done += request.inner;
      used += reading;
      slice.times_ns.push_back(reading / static_cast<double>(request.inner));
      inner = request.inner;
    } while (used < request.slice_ms * 1e6 && (request.max_runs == 0 || done < request.max_runs));
    slice.alive_tensors = leak * runs + 10;
    slice.heap_bytes = 1000;
    return slice;
  }

  void settle() override { ++settled; }

  std::int64_t settled = 0;

  std::int64_t runs = 0;
  std::int64_t inner = 0;
  std::int64_t leak = 0;
  std::int64_t fail_at = -1;

 private:
  std::string name_;
  std::string& log_;
  std::function<double(std::int64_t)> time_of_;
  double clock_;
};

std::vector<BenchSeries> run(
    std::vector<BenchSubject*> subjects, const BenchLimits& limits = {},
    const std::function<bool()>& stop = [] { return false; }) {
  return run_bench(subjects, limits, stop, [](auto, auto, auto) {});
}

auto constant(double ns) {
  return [ns](std::int64_t) { return ns; };
}

TEST_CASE("Bench_TwoSubjects_TakeTurns") {
  std::string log;
  Invented a("A", log, constant(5e6));
  Invented b("B", log, constant(7e6));
  const auto all_series = run({&a, &b});
  REQUIRE(all_series.size() == 2);
  CHECK(log.substr(0, 16) == "AABBBBAAAABBBBAA");  // each turn: a reading to settle, then those kept
  CHECK(all_series[0].rounds.size() == all_series[1].rounds.size());
  CHECK(median_time(all_series[0], 0.95)->value == Approx(5e6));
  CHECK(all_series[0].end == BenchEnd::precise);
  CHECK(all_series[0].steady);
  CHECK(a.settled == 1 + std::ssize(all_series[0].rounds));  // after warm-up and after each turn
}

TEST_CASE("A bench: the other subjects' data in the caches is not counted") {
  std::string log;
  std::int64_t runs_of_b = 0;
  // A's run after B's takes ten times as long.
  std::int64_t seen = 0;
  Invented a("A", log, [&](std::int64_t) {
    const bool cold = seen != runs_of_b;
    seen = runs_of_b;
    return cold ? 50e6 : 5e6;
  });
  Invented b("B", log, [&](std::int64_t) {
    ++runs_of_b;
    return 5e6;
  });
  const auto all_series = run({&a, &b});
  for (const double time : all_times(all_series[0])) CHECK(time == Approx(5e6));
}

TEST_CASE("Bench_WarmUp_EndsWhenTimesDriftNoMore") {
  std::string log;
  // A compiler makes it faster and faster until run 60.
  const auto faster = [](std::int64_t i) { return i < 60 ? 40e6 - 0.5e6 * static_cast<double>(i) : 10e6; };
  Invented a("A", log, faster);
  const auto all_series = run({&a});
  CHECK(all_series[0].steady);
  CHECK(all_series[0].warm_up_runs >= 60);
  CHECK(median_time(all_series[0], 0.95)->value == Approx(10e6));
}

TEST_CASE("Bench_WarmUpThatNeverEnds_IsCutOffAndSaid") {
  std::string log;
  const auto slowly_faster = [](std::int64_t i) { return 1e9 / (1.0 + 0.1 * static_cast<double>(i)); };
  Invented a("A", log, slowly_faster);
  BenchLimits limits;
  limits.warm_up_seconds = 5.0;
  limits.seconds = 1.0;
  const auto all_series = run({&a}, limits);
  CHECK_FALSE(all_series[0].steady);
  CHECK(all_series[0].warm_up_runs < 30);
  CHECK(all_series[0].end != BenchEnd::failed);
}

TEST_CASE("Bench_CoarseClock_ReadingsSpanManyRuns") {
  std::string log;
  Invented a("A", log, constant(50e3), 20e3);  // 50 µs by a clock of 20 µs
  const auto all_series = run({&a});
  CHECK(all_series[0].inner >= 40);  // 100 steps of the clock
  CHECK(all_series[0].inner <= 41);
  CHECK(median_time(all_series[0], 0.95)->value == Approx(50e3));
}

TEST_CASE("Bench_BusyMomentAtTheEndOfWarmUp_ReadingsStillSpanManyRuns") {
  std::string log;
  // 50 µs, except for a while in which the machine is busy with other work.
  const auto busy_for_a_while = [](std::int64_t i) { return i > 2500 && i < 5000 ? 900e3 : 50e3; };
  Invented a("A", log, busy_for_a_while, 20e3);
  const auto all_series = run({&a});
  CHECK(all_series[0].inner >= 40);
}

TEST_CASE("Bench_NoisySubject_EndsByTimeAndSaysSo") {
  std::string log;
  Rng rng(5);
  Invented a("A", log, [&](std::int64_t) { return 1e6 * (1.0 + rng.uniform() * 20.0f); });
  BenchLimits limits;
  limits.seconds = 0.5;
  limits.precision = 1e-4;
  const auto all_series = run({&a}, limits);
  CHECK(all_series[0].end == BenchEnd::time);
  CHECK(all_series[0].rounds.size() >= 10);
}

TEST_CASE("Bench_RunLimit_IsKept") {
  std::string log;
  Invented a("A", log, constant(1e6));
  BenchLimits limits;
  limits.max_runs = 7;
  const auto all_series = run({&a}, limits);
  CHECK(all_series[0].end == BenchEnd::runs);
  CHECK(all_times(all_series[0]).size() == 7);
}

TEST_CASE("Bench_SubjectThatFails_KeepsItsRoundsAndTheOthersGoOn") {
  std::string log;
  Invented a("A", log, constant(10e6));
  Invented b("B", log, constant(10e6));
  a.fail_at = 40;
  const auto all_series = run({&a, &b});
  CHECK(all_series[0].end == BenchEnd::failed);
  REQUIRE(all_series[0].error);
  CHECK(all_series[0].error->message == "the subject is gone");
  CHECK(!all_series[0].rounds.empty());
  CHECK(all_series[1].end == BenchEnd::precise);
}

TEST_CASE("Bench_Stopped_KeepsWhatWasMeasured") {
  std::string log;
  Invented a("A", log, constant(10e6));
  const auto all_series = run({&a}, {}, [&] { return log.size() >= 3; });
  CHECK(all_series[0].rounds.size() == 2);  // two readings of each turn are logged
  CHECK(all_series[0].end == BenchEnd::stopped);
}

BenchRow row_of(const std::string& model, const std::string& target, BenchSeries series) {
  BenchRow row;
  row.model = model;
  row.target = row.base_name = target;
  row.series = std::move(series);
  return row;
}

TEST_CASE("Report_RatiosAndMeansOverModels") {
  std::string log;
  BenchReport report;
  double factor = 2.0;
  for (const char* model : {"m", "n"}) {
    Invented a("A", log, constant(factor * 10e6));
    Invented b("B", log, constant(10e6));
    const auto all_series = run({&a, &b});
    report.rows.push_back(row_of(model, "pc/ort", all_series[0]));
    report.rows.push_back(row_of(model, "pc/fast", all_series[1]));
    factor = 8.0;
  }
  report.rows.push_back(row_of("n", "pc/none", {}));
  add_ratios(report, {"pc/ort"});
  REQUIRE(report.ratios.size() == 2);
  CHECK(report.ratios[0].target == "pc/fast");
  CHECK(report.ratios[0].base == "pc/ort");
  CHECK(report.ratios[0].times_as_fast.value == Approx(2.0));
  CHECK(report.ratios[1].times_as_fast.value == Approx(8.0));
  REQUIRE(report.means.size() == 1);
  CHECK(report.means[0].models == 2);
  CHECK(report.means[0].times_as_fast.value == Approx(4.0));
}

TEST_CASE("Report_RecordedRows_AreComparedWithThemselvesUnrecorded") {
  std::string log;
  Invented plain("A", log, constant(10e6));
  Invented recorded("B", log, constant(14e6));
  const auto all_series = run({&plain, &recorded});
  BenchReport report;
  report.rows = {row_of("m", "pc/fast", all_series[0]), row_of("m", "pc/fast", all_series[1])};
  report.rows[0].group = "batch=1";
  report.rows[1].group = "batch=1,trace=all";
  report.rows[1].capture = "all";
  add_ratios(report, {"pc/fast"});
  REQUIRE(report.ratios.size() == 1);
  CHECK(report.ratios[0].untraced);
  CHECK(report.ratios[0].times_as_fast.value == Approx(10.0 / 14.0));
}

TEST_CASE("Figures_LeakShowsAsASlope") {
  std::string log;
  Invented clean("A", log, constant(10e6));
  Invented leaky("B", log, constant(10e6));
  leaky.leak = 3;
  const auto all_series = run({&clean, &leaky});
  const auto good = bench_figures(row_of("m", "A", all_series[0]), 0.95);
  const auto bad = bench_figures(row_of("m", "B", all_series[1]), 0.95);
  REQUIRE(good.alive_slope);
  CHECK(good.alive_slope->interval->low == 0.0);
  CHECK(good.alive_slope->interval->high == 0.0);
  REQUIRE(bad.alive_slope);
  CHECK(bad.alive_slope->value == Approx(3.0));
  CHECK(bad.alive_slope->interval->low > 0.0);
  CHECK(good.throughput_per_s == Approx(100.0));
}

}  // namespace
}  // namespace driftscope::test::bench_run_test
